// The list of sessions by keyboard, and filters that apply when they are chosen. Without this script the form has its button.
const finder = document.querySelector("[data-finder]");
const list = document.querySelector("[data-list]");
const keys = document.getElementById("keys");
const help = document.querySelector("[data-help]");

if (finder) {
  finder.addEventListener("submit", () => {
    for (const field of finder.elements) {
      const plain = field.value === "" || (field.name === "sort" && field.value === "newest");
      if (field.name && plain) field.disabled = true; // the address names only what is set
    }
  });
  // chosen with a pointer it applies at once; by keyboard an arrow already chooses, so there the button does it
  let byKey = false;
  finder.addEventListener("keydown", () => { byKey = true; });
  finder.addEventListener("pointerdown", () => { byKey = false; });
  for (const field of finder.querySelectorAll("[data-now]")) field.addEventListener("change", () => { if (!byKey) finder.requestSubmit(); });
  // back from another page: fields that were switched off for the address work again
  addEventListener("pageshow", () => { for (const field of finder.elements) field.disabled = false; });
}
sessionStorage.setItem("sessions", location.search);

if (help) {
  help.hidden = false;
  help.addEventListener("click", () => keys.showModal());
  keys.addEventListener("click", (event) => { if (event.target === keys) keys.close(); });
}

const rows = list ? [...list.querySelectorAll("[data-row]")] : [];
let at = -1;

function go(to) {
  if (!rows.length) return;
  if (at >= 0) rows[at].classList.remove("here");
  at = Math.max(0, Math.min(rows.length - 1, to));
  rows[at].classList.add("here");
  rows[at].querySelector("a").focus({ preventScroll: true });
  rows[at].scrollIntoView({ block: "nearest" });
}

if (list) {
  list.addEventListener("focusin", (event) => {
    const row = rows.indexOf(event.target.closest("[data-row]"));
    if (row < 0 || row === at) return;
    if (at >= 0) rows[at].classList.remove("here");
    at = row;
    rows[at].classList.add("here");
  });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || keys?.open) return;
  if (event.target.closest("input, select, textarea, dialog[open], [contenteditable]")) return;
  const row = rows[Math.max(at, 0)];
  // with no row chosen, `o` opens what has most to look at on this page
  const worst = at < 0 ? [...rows].sort((a, b) => Number(b.dataset.attention ?? -1) - Number(a.dataset.attention ?? -1))[0] : row;
  const acts = {
    j: () => go(at + 1),
    k: () => go(at < 0 ? rows.length - 1 : at - 1),
    o: () => { if (worst?.dataset.worst) location.assign(worst.dataset.worst); },
    a: () => { const sort = document.getElementById("sort"); if (sort) { sort.value = sort.value === "attention" ? "newest" : "attention"; finder.requestSubmit(); } },
    "/": () => document.getElementById("q")?.focus(),
    "?": () => keys?.showModal(),
    Enter: () => { if (row && event.target === document.body) location.assign(row.querySelector("a").href); },
  };
  const act = acts[event.key];
  if (!act || (event.key === "Enter" && event.target !== document.body)) return;
  event.preventDefault();
  act();
});
