// The list of signals by keyboard: j and k (or arrows within the list) move, Enter opens the place, a verdict moves on.
const rows = [...document.querySelectorAll(".waiting > .signal")];
const keys = document.querySelector("[data-keys]");
if (keys) keys.hidden = false;

const at = () => rows.findIndex((row) => row.getAttribute("aria-current") === "true");

function choose(index, quietly) {
  const row = rows[index];
  if (!row) return;
  for (const one of rows) if (one !== row) one.removeAttribute("aria-current");
  row.setAttribute("aria-current", "true");
  if (quietly) return;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.isComposing) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const inList = event.target.closest(".waiting") !== null;
  const step = event.key === "j" || (inList && event.key === "ArrowDown") ? 1 : event.key === "k" || (inList && event.key === "ArrowUp") ? -1 : 0;
  if (step) {
    event.preventDefault();
    choose(Math.min(rows.length - 1, Math.max(0, at() + step)));
  } else if (event.key === "Enter" && (event.target === document.body || event.target.matches(".signal"))) {
    rows[at()]?.querySelector("[data-open]")?.click();
  }
});

document.addEventListener("click", (event) => {
  const row = event.target.closest(".waiting > .signal");
  if (row && row.getAttribute("aria-current") !== "true") choose(rows.indexOf(row), true);
});

function count(verdict, step) {
  const place = document.querySelector(`.chip[data-verdict="${verdict}"] b`);
  if (!place) return;
  const n = Math.max(0, Number(place.textContent.replace(/\D/g, "")) + step);
  place.textContent = String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

document.addEventListener("dshweb:reviewed", (event) => {
  count(event.detail.before, -1);
  count(event.detail.verdict, 1);
  const from = rows.indexOf(event.target);
  if (from < 0 || event.detail.verdict === "open" || event.detail.before !== "open") return;
  const open = (row) => row.querySelector(".verdict")?.dataset.verdict === "open";
  const next = [...rows.slice(from + 1), ...rows.slice(0, from)].find(open);
  if (next) choose(rows.indexOf(next));
});

const asked = rows.findIndex((row) => `#${row.id}` === location.hash);
choose(Math.max(0, asked), true);
