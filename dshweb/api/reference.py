"""The OpenAPI document as people read it: calls in groups, fields in rows, examples as commands. Pure: no request, no database."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from shlex import quote
from typing import Any
from urllib.parse import quote as url_quote
from urllib.parse import urlencode

METHODS = ("get", "post", "put", "patch", "delete")
TOKEN = "$DSHWEB_TOKEN"  # noqa: S105  a placeholder

ANY_INTEGER = 1 << 62  # a bound as large as this only says that it is a number of the database

Node = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A type in words; `shape` names the shape it is or holds, "" for plain ones."""

    words: str
    shape: str = ""


@dataclass(frozen=True)
class Field:
    name: str
    kind: Kind
    required: bool
    about: str
    where: str = ""


@dataclass(frozen=True)
class Shape:
    name: str
    about: str
    fields: list[Field]
    values: list[Any]


@dataclass(frozen=True)
class Answer:
    status: int
    kind: Kind | None
    media: str = ""

    @property
    def refusal(self) -> bool:
        return self.status >= 400


@dataclass(frozen=True)
class Example:
    summary: str
    command: str
    status: int


@dataclass(frozen=True)
class Call:
    """One operation. `scope`: what a token needs, `role`: the least a person must be in the team."""

    id: str
    method: str
    path: str
    summary: str
    about: str
    scope: str
    role: str
    parameters: list[Field]
    body: list[tuple[str, Kind]]
    answers: list[Answer]
    examples: list[Example]


@dataclass(frozen=True)
class Reference:
    groups: dict[str, list[Call]]
    shapes: list[Shape]


def operations(document: Node) -> Iterator[tuple[str, str, Node]]:
    """Path, method and operation of every call, in the order of the document."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def reference(document: Node, base: str) -> Reference:
    """Everything of `document`; `base` (`https://host`) is where the examples call."""
    groups: dict[str, list[Call]] = {}
    for path, method, operation in operations(document):
        group = (operation.get("tags") or ["other"])[0]
        groups.setdefault(group, []).append(_call(path, method, operation, base))
    schemas = document.get("components", {}).get("schemas", {})
    shapes = [
        Shape(shape_name(name), _prose(schema.get("description", "")), list(_fields(schema)), schema.get("enum", []))
        for name, schema in sorted(schemas.items())
    ]
    return Reference(groups, shapes)


def shape_name(name: str) -> str:
    """`Paged_TaskOut_` → `Paged[TaskOut]`."""
    found = re.fullmatch(r"(\w+?)_(\w+)_", name)
    return f"{found[1]}[{found[2]}]" if found else name


def _call(path: str, method: str, operation: Node, base: str) -> Call:
    content = operation.get("requestBody", {}).get("content", {})
    return Call(
        id=re.sub(r"\W+", "-", f"{method} {path.partition('/v1')[2]}").strip("-"),
        method=method.upper(),
        path=path,
        summary=operation.get("summary", ""),
        about=_prose(operation.get("description", "")),
        scope=operation.get("x-scope", ""),
        role=operation.get("x-role", ""),
        parameters=[_parameter(one) for one in operation.get("parameters", [])],
        body=[(media, kind(part.get("schema", {}))) for media, part in content.items()],
        answers=list(_answers(operation)),
        examples=[
            Example(one["summary"], command(base, path, method, one), one.get("status", 200))
            for one in operation.get("x-examples", [])
        ],
    )


def _parameter(one: Node) -> Field:
    schema = one.get("schema", {})
    about = _prose(one.get("description") or schema.get("description", ""))
    return Field(one["name"], kind(schema), bool(one.get("required")), about, one["in"])


def _answers(operation: Node) -> Iterator[Answer]:
    for status, answer in sorted(operation.get("responses", {}).items(), key=lambda pair: str(pair[0])):
        content = answer.get("content", {})
        for media, part in content.items() or [("", None)]:
            yield Answer(int(status), kind(part["schema"]) if part and part.get("schema") else None, media)


def _fields(schema: Node) -> Iterator[Field]:
    required = schema.get("required", [])
    for name, one in schema.get("properties", {}).items():
        yield Field(name, kind(one), name in required, _prose(one.get("description", "")))


def kind(schema: Node) -> Kind:
    """What a schema allows, in a few words; null last."""
    if "$ref" in schema:
        name = shape_name(schema["$ref"].rsplit("/", 1)[-1])
        return Kind(name, name)
    if "enum" in schema or "const" in schema:
        return Kind(" | ".join(json.dumps(value) for value in schema.get("enum", [schema.get("const")])))
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            return _either([kind(one) for one in schema[word]])
    if schema.get("type") == "array":
        inner = kind(schema.get("items", {}))
        return Kind(f"[{inner.words}]", inner.shape)
    if schema.get("type") == "object" or "properties" in schema:
        value = schema.get("additionalProperties")
        of = kind(value) if isinstance(value, dict) and value else Kind("any")
        return Kind(f"{{name: {of.words}}}", of.shape)
    name = schema.get("type", "any")
    limits = [f"{sign} {schema[word]}" for word, sign in (("minimum", "≥"), ("maximum", "≤"))
              if word in schema and schema[word] < ANY_INTEGER]  # fmt: skip
    limits += [f"≤ {schema['maxLength']} characters"] if "maxLength" in schema else []
    if schema.get("format"):
        name = {"date-time": "time", "binary": "file"}.get(schema["format"], f"{name} ({schema['format']})")
    default = schema.get("default")
    limits += [f"default {json.dumps(default)}"] if default not in (None, "") else []
    return Kind(", ".join([str(name), *limits]))


def _either(kinds: Iterable[Kind]) -> Kind:
    rows = sorted(kinds, key=lambda one: one.words == "null")
    return Kind(" | ".join(one.words for one in rows), next((one.shape for one in rows if one.shape), ""))


def command(base: str, path: str, method: str, example: Node) -> str:
    """The example as a curl command; the token comes from the environment."""
    for name, value in example.get("path", {}).items():
        path = path.replace("{" + name + "}", url_quote(str(value), safe=""))
    query = urlencode(example.get("query", {}), doseq=True)
    parts = [f"curl {quote(f'{base}{path}?{query}' if query else base + path)}"]
    parts.append(f'-H "Authorization: Bearer {TOKEN}"')
    parts += [f"-H {quote(f'{name}: {value}')}" for name, value in example.get("headers", {}).items()]
    if method != "get" and not (method == "post" and ({"body", "raw", "files"} & set(example))):
        parts.insert(1, f"-X {method.upper()}")
    if "body" in example:
        parts += ["-H 'Content-Type: application/json'", f"-d {quote(json.dumps(example['body'], ensure_ascii=False))}"]
    if "raw" in example:
        parts.append(f"--data-binary {quote('@' + example['raw'])}")
    parts += [f"-F {quote(f'{name}=@{file}')}" for name, file in example.get("files", {}).items()]
    return " \\\n  ".join(parts)


def _prose(text: str) -> str:
    """A docstring as one paragraph each."""
    return "\n\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()) if part.strip())
