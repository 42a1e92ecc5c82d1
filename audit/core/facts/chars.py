"""Character sets and closed word lists shared by the fact classes (COMPACTION-AUDIT §4, AUDIT-REFINEMENTS §2.3)."""

from __future__ import annotations

import re

# Scripts written without spaces: they glue to ASCII paths, so a path may have to be cut where they begin.
HAN = "\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
HAN_RE = re.compile(f"[{HAN}]")

# Punctuation that ends a path besides ASCII's: CJK and typographic marks, arrows, box drawing, bullets. Not `…`.
_PUNCT = (
    "\u00ab\u00b7\u00bb\u2010-\u2015\u2018-\u201f\u2022\u2190-\u21ff\u2500-\u25ff\u2713-\u2718\u3000-\u3004\u3008-\u3020"
    "\uff01\uff02\uff07-\uff09\uff0a\uff0c\uff0f\uff1a-\uff1f\uff3b\uff3d\uff40\uff5b-\uff65"
)
# Everything that cannot stand in a run of path characters (separators can).
DELIM = rf"\s\x00-\x1f\x7f-\x9f:*?,;'\"<>|`{_PUNCT}"
RUN_RE = re.compile(f"[^{DELIM}]+")
_DELIM_RE = re.compile(f"[{DELIM}]")
DELIMS = frozenset(chr(c) for c in range(0x10000) if _DELIM_RE.match(chr(c)))


def is_delim(c: str) -> bool:
    """True for a character that no path contains."""
    return c in DELIMS


def is_han(c: str) -> bool:
    """True for a character of a script written without spaces."""
    return c > "\u3004" and HAN_RE.match(c) is not None


def is_word(c: str) -> bool:
    """True for a letter or digit of a script that separates words (Han is not one), `_`, or masked text."""
    if c < "\x80":
        return c.isalnum() or c in "_\x00"
    return c.isalnum() and not is_han(c)


def words(text: str) -> frozenset[str]:
    """The words of a closed list written as text."""
    return frozenset(text.split())


PATH_MARKERS = words(
    "src lib tests test docs doc packages apps app bin cmd internal pkg scripts config configs examples tools migrations"
    " templates static assets public include vendor build dist target .github .vscode"
)
ROOTS = words(
    "etc usr var tmp opt home root bin sbin lib mnt media srv proc sys dev run boot data app workspace"
    " Users Volumes private Library Applications nix"
)
TLDS = words(
    "com org net io dev ai cn edu gov co uk de fr jp ru app info me tv xyz cc us eu kr in biz cloud site online"
)
# Git branches people name in a conversation: prefix -> the rest must hold a digit (release) or be a slug.
RELEASE_BRANCHES = words("release releases hotfix support")
TOPIC_BRANCHES = words("feature feat fix bugfix chore refactor")

EXTENSIONS = words(
    # source
    "py pyi pyx ipynb js mjs cjs jsx ts mts cts tsx vue svelte astro java kt kts scala groovy clj cljs ex exs erl hs ml"
    " mli fs fsx c h cc cpp cxx hpp hh hxx cs vb go rs swift m mm rb php pl pm lua r jl dart zig nim sol asm s sh bash"
    " zsh fish ps1 psm1 bat cmd sql graphql gql proto thrift wasm wat tf hcl nix cmake mk gradle bzl css scss sass less"
    " styl html htm xhtml ejs hbs pug jinja j2 jinja2 tmpl tpl erb cu f90 vhd sv"
    # config and doc
    " json jsonc json5 jsonl ndjson yaml yml toml ini cfg conf config cnf env properties plist lock xml xsd xsl xslt"
    " rst md mdx markdown adoc tex txt text rtf log out err pdf doc docx odt ppt pptx odp xls xlsx xlsm ods epub eml"
    " diff patch po pot map service timer socket crt pem csr key pub p12 pfx jks asc sig sha256 md5 snap"
    # data
    " csv tsv parquet avro orc arrow feather db sqlite sqlite3 sqlitedb mdb dump bak rdb npy npz pkl pickle pt pth ckpt"
    " onnx safetensors gguf h5 hdf5 mat bin dat data pcap har geojson shp tfrecord msgpack pb"
    # archive, package, image, media
    " zip tar gz tgz bz2 tbz xz txz zst zstd 7z rar jar war ear whl egg deb rpm apk dmg iso img exe dll so dylib a o lib"
    " class pyc nupkg gem crx vsix png jpg jpeg gif svg webp ico bmp tif tiff avif heic psd ai fig sketch mp3 mp4 wav"
    " flac ogg avi mov mkv webm m4a ttf otf woff woff2 drawio excalidraw"
)
# Known extensions that are much more often attributes, domains or plain words when no folder stands in front.
BARE_NOT = words("a o s m r d config env data text key map out err class lib ai service socket timer mat bin pub")
DOTFILES = words(
    ".env .gitignore .gitattributes .gitmodules .dockerignore .npmrc .nvmrc .editorconfig .eslintrc .prettierrc .babelrc"
    " .bashrc .zshrc .bash_profile .profile .vimrc .npmignore .flake8 .pylintrc .python-version"
)
PLAIN_FILES = words(
    "Makefile Dockerfile LICENSE LICENCE README CHANGELOG NOTICE AUTHORS CODEOWNERS Gemfile Rakefile Procfile Jenkinsfile"
    " Vagrantfile Justfile Brewfile Pipfile BUILD WORKSPACE COPYING VERSION go.mod go.sum"
)
_JS = (
    "node vue next d3 three express nuxt nest react angular ember backbone chart moment alpine electron discord p5 babylon"
    " pixi plotly underscore knockout polymer solid hapi koa meteor gatsby handlebars mocha require video highlight fabric"
    " tensorflow transformers brain socket preact svelte inferno aurelia ext phaser"
)
PRODUCTS = frozenset([f"{n}.js" for n in words(_JS)] + ["docs.rs", "crates.rs", "bun.sh", "deno.ts", "asp.cs"])
# `res.json`, `console.log`, `self.conf`: code, not a file. None = any extension.
ATTRIBUTES: dict[str, frozenset[str] | None] = {
    "self": None, "this": None, "cls": None, "np": None, "os": None, "pd": None, "tf": None, "torch": None,
    **dict.fromkeys(words("res resp response req request r body"), frozenset({"json", "text", "txt"})),
    **dict.fromkeys(words("console math numpy logger log"), frozenset({"log", "err"})),
    "process": frozenset({"env", "out"}),
    "system": frozenset({"out", "err", "in"}),
}  # fmt: skip
