// Two-sided reading: a signal or a mark is selected, and both columns move to it. Everything here also works as links.
const tri = document.querySelector(".tri");
const base = tri.dataset.compaction;
const list = tri.querySelector("[data-list]");
const card = tri.querySelector("[data-card]");
const originals = tri.querySelector("#originals");
const read = tri.querySelector("[data-originals]"); // what of it scrolls
const leaves = tri.querySelector("[data-leaves]");
const summary = tri.querySelector("#summary");
const live = document.querySelector("[data-live]");
const help = document.querySelector("[data-help-box]");
const classes = tri.querySelector("[data-classes]");
const none = tri.querySelector("[data-none]");
const narrow = matchMedia("(max-width: 48rem)");

const everySignal = () => [...list.querySelectorAll("li.signal")];
const shownSignals = () => everySignal().filter((row) => !row.hidden);
const current = () => list.querySelector('.signal[aria-current="true"]');
const keysOf = (mark) => (mark.dataset.fact || "").split(" ");
const marksOf = (key, root = tri) => [...root.querySelectorAll(`[data-fact~="${CSS.escape(key)}"]:not(.signal):not(.fact-card)`)];

let chosen = tri.dataset.key;
let asked = 0;

tri.dataset.live = "";
for (const part of tri.querySelectorAll("[data-keys]")) part.hidden = false;
tri.querySelector("[data-go]")?.remove();

async function fragment(path) {
  const answer = await fetch(base + path, { headers: { "X-Fragment": "1" } });
  if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
  return answer.status === 204 ? null : answer.text();
}

function fresh(place) {
  place.dispatchEvent(new CustomEvent("dshweb:replaced", { bubbles: true }));
}

// --- moving ---------------------------------------------------------------------------------------------------------

// What was not drawn yet has no height of its own, so that the first jump may miss: it is looked at again in the next frames.
function moveTo(mark, again = 3) {
  const pane = mark.closest("[data-scroll]");
  const fold = mark.closest(".leaf details");
  if (fold) fold.open = true;
  if (!pane || narrow.matches || getComputedStyle(pane).overflowY === "visible") return;
  const far = mark.getBoundingClientRect();
  const box = pane.getBoundingClientRect();
  if (far.top > box.top + 24 && far.bottom < box.bottom - 24) return;
  const before = pane.scrollTop;
  pane.scrollTop += far.top - box.top - box.height / 3;
  if (again && pane.scrollTop !== before) requestAnimationFrame(() => moveTo(mark, again - 1));
}

function keepInView(row) {
  const box = list.getBoundingClientRect();
  const far = row.getBoundingClientRect();
  if (far.top < box.top) list.scrollTop += far.top - box.top;
  else if (far.bottom > box.bottom) list.scrollTop += Math.min(far.bottom - box.bottom + 8, far.top - box.top);
}

function showColumns() {
  if (narrow.matches) return;
  const top = tri.getBoundingClientRect().top;
  const bar = document.querySelector(".top").getBoundingClientRect().bottom;
  if (top > innerHeight / 3 || top < 0) scrollBy({ top: top - Math.max(bar, 0) - 12, behavior: "instant" });
}

// --- selecting ------------------------------------------------------------------------------------------------------

function highlight(key) {
  for (const mark of tri.querySelectorAll("[data-on]")) delete mark.dataset.on;
  for (const mark of marksOf(key)) mark.dataset.on = "";
}

function address(key, signal) {
  const url = new URL(location.href);
  url.searchParams.set("fact", key);
  url.searchParams.delete("at");
  if (signal) url.searchParams.set("signal", signal);
  else url.searchParams.delete("signal");
  url.hash = "";
  history.replaceState(null, "", url);
}

async function select(key, { row = null, from = null, quiet = false } = {}) {
  const turn = ++asked;
  chosen = tri.dataset.key = key;
  const signal = row ?? everySignal().find((one) => one.dataset.fact === key && !one.hidden) ?? null;
  current()?.removeAttribute("aria-current");
  if (signal) {
    signal.setAttribute("aria-current", "true");
    card.hidden = true;
    keepInView(signal);
    requestAnimationFrame(() => keepInView(signal)); // its form has unfolded by then
  }
  highlight(key);
  if (!quiet) address(key, signal?.dataset.signal);
  if (signal && !quiet) live.textContent = `${live.dataset.moved} ${signal.querySelector(".signal-k").textContent.trim()}, ${signal.querySelector(".signal-t").textContent.trim()}`;
  const jobs = [];
  if (!signal) jobs.push(showCard(key, turn));
  if (!marksOf(key, originals).length || !marksOf(key, summary).length) jobs.push(findPair(key, turn, from));
  await Promise.all(jobs);
  if (turn === asked) moveBoth(key, from);
}

function moveBoth(key, from) {
  for (const pane of [originals, summary]) {
    if (from && pane.contains(from)) continue;
    const marks = marksOf(key, pane);
    const mark = marks.find((one) => !("absent" in one.dataset)) ?? marks[0] ?? pane.querySelector("[data-on]");
    if (mark) moveTo(mark);
  }
}

// A fact whose place is not on the page: the server knows its window, and what stands for it on the other side.
async function findPair(key, turn, from) {
  if (!marksOf(key, originals).length) {
    if (from && originals.contains(from)) return;
    try {
      const html = await fragment(`originals?fact=${encodeURIComponent(key)}`);
      if (turn !== asked || html === null) return;
      leaves.innerHTML = html;
      fresh(leaves);
    } catch {
      return; // the link of the signal still leads there
    }
  }
  const pair = await pairOf(key);
  if (turn === asked && pair) for (const mark of marksOf(pair)) mark.dataset.on = "";
}

const cards = new Map();
async function cardOf(key) {
  if (!cards.has(key)) cards.set(key, fragment(`facts/${encodeURIComponent(key)}`).catch(() => { cards.delete(key); return ""; }));
  return cards.get(key);
}

async function pairOf(key) {
  const box = document.createElement("template");
  box.innerHTML = await cardOf(key);
  return box.content.querySelector("[data-pair]")?.dataset.pair ?? "";
}

async function showCard(key, turn) {
  const html = await cardOf(key);
  if (turn !== asked) return;
  card.innerHTML = html;
  card.hidden = !html;
  fresh(card);
  list.scrollTop = 0;
}

function step(by) {
  const rows = shownSignals();
  const at = rows.indexOf(current());
  const row = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by];
  showColumns();
  if (row) select(row.dataset.fact, { row });
}

// The next or previous mark in the reading order of the column that was used last, else of the originals.
let pane = originals;
function stepMark(by) {
  const marks = [...pane.querySelectorAll(".fact:not([data-absent]), .said")];
  const find = (name) => marks.findIndex((mark) => name in mark.dataset);
  let at = find("here") >= 0 ? find("here") + by : find("on") >= 0 ? find("on") + by : -1;
  if (at < 0) {
    const top = pane.querySelector("[data-scroll]").getBoundingClientRect().top;
    at = marks.findIndex((mark) => mark.getBoundingClientRect().top >= top) - (by < 0 ? 1 : 0);
  }
  const mark = marks[at];
  showColumns();
  if (!mark) return;
  for (const one of marks) delete one.dataset.here;
  mark.dataset.here = "";
  moveTo(mark);
  select(keysOf(mark)[0], { from: mark });
}

// --- filters --------------------------------------------------------------------------------------------------------

// With all signals on the page they are filtered here; else the links of the chips ask the server.
const given = new URLSearchParams(location.search);
const partial = tri.querySelector("[data-more]") !== null || given.get("kind") || given.get("cls");
const kinds = new Set();

function filter() {
  const cls = classes?.value ?? "";
  for (const row of everySignal()) row.hidden = (kinds.size > 0 && !kinds.has(row.dataset.kind)) || (cls !== "" && row.dataset.class !== cls);
  for (const chip of chips) {
    if (kinds.has(chip.dataset.kind)) chip.setAttribute("aria-current", "true");
    else chip.removeAttribute("aria-current");
  }
  const rows = shownSignals();
  none.hidden = rows.length > 0;
  if (rows.length && (!current() || current().hidden)) select(rows[0].dataset.fact, { row: rows[0] });
  if (!rows.length) {
    current()?.removeAttribute("aria-current"); // a key must not give a verdict on what is not seen
    live.textContent = live.dataset.nothing;
  }
}

const chips = [...tri.querySelectorAll(".chip[data-kind]")];
for (const chip of partial ? [] : chips) {
  chip.addEventListener("click", (event) => {
    if (event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    if (!kinds.delete(chip.dataset.kind)) kinds.add(chip.dataset.kind);
    filter();
  });
}
classes?.addEventListener("change", () => { if (partial) classes.form.submit(); else filter(); });

// --- listening ------------------------------------------------------------------------------------------------------

tri.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
  const link = event.target.closest("a");
  if (!link) return;
  const take = (what) => { event.preventDefault(); return what(); };
  if (link.matches(".signal-a")) return take(() => select(link.closest(".signal").dataset.fact, { row: link.closest(".signal") }).then(() => narrow.matches && jump()));
  if (link.matches(".hole, [data-back], [data-on-at]")) return; // windows.js
  if (link.dataset.at) return take(() => goTo(link));
  const mark = link.closest("[data-fact]");
  if (mark && !mark.matches(".signal, .fact-card") && !link.closest(".fared")) {
    pane = originals.contains(mark) ? originals : summary.contains(mark) ? summary : pane;
    return take(() => select(keysOf(mark)[0], { from: "absent" in mark.dataset || list.contains(mark) ? null : mark }));
  }
});

function jump() {
  const mark = marksOf(chosen, summary).find((one) => !("absent" in one.dataset)) ?? marksOf(chosen, originals)[0];
  mark?.scrollIntoView({ block: "center" });
}

async function goTo(link) {
  const at = link.dataset.at;
  if (!document.getElementById(`leaf-${at}`)) {
    try {
      leaves.innerHTML = await fragment(`originals?at=${at}${chosen ? `&fact=${chosen}` : ""}`);
      fresh(leaves);
    } catch {
      location.href = link.href;
      return;
    }
  }
  const leaf = document.getElementById(`leaf-${at}`);
  const mark = leaf && marksOf(chosen, leaf)[0];
  if (mark) moveTo(mark);
  else if (leaf) read.scrollTop += leaf.getBoundingClientRect().top - read.getBoundingClientRect().top - 24;
}

list.addEventListener("dshweb:reviewed", (event) => {
  const rows = shownSignals();
  const at = rows.indexOf(event.target.closest(".signal"));
  const open = (row) => row.dataset.signal && row.querySelector(".verdict")?.dataset.verdict === "open";
  const row = [...rows.slice(at + 1), ...rows.slice(0, Math.max(at, 0))].find(open);
  if (row && current() === event.target.closest(".signal")) select(row.dataset.fact, { row });
});

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest("input, textarea, select, [contenteditable]") || help.open) return;
  const inList = list.contains(event.target) && !event.target.closest("summary, button");
  const act = (what) => { event.preventDefault(); what(); };
  if (event.key === "j" || (event.key === "ArrowDown" && inList)) act(() => step(1));
  else if (event.key === "k" || (event.key === "ArrowUp" && inList)) act(() => step(-1));
  else if (event.key === "]") act(() => stepMark(1));
  else if (event.key === "[") act(() => stepMark(-1));
  else if (event.key === "?") act(() => help.showModal());
  else if (event.key === "f" && classes) act(() => classes.focus());
  else if (/^[1-7]$/.test(event.key) && chips[event.key - 1]) act(() => chips[event.key - 1].click());
});

tri.querySelector("[data-help]")?.addEventListener("click", () => help.showModal());
help.addEventListener("click", (event) => { if (event.target === help) help.close(); });

leaves.addEventListener("dshweb:replaced", () => highlight(chosen));

if (chosen) {
  const row = current();
  highlight(chosen);
  select(chosen, { row, quiet: true }).then(() => {
    if ((given.has("fact") || given.has("signal")) && !narrow.matches) showColumns();
  });
}
