// The settings page while it is edited: the form is the draft, and the server works out everything shown. Each change is sent as
// `action=draft`, and the parts of the answer take the place of those here; nothing typed is ever replaced under the hand.
// The draft is kept in this browser until it is saved or dropped. Without this script the same form works by its buttons.
import { attach as sweep } from "./sweep.js";

const root = document.querySelector("[data-settings]");
const live = document.querySelector("[data-live]");
const PAUSE = 200;
const LOOK = 20000;
const PATIENCE = 60000;
const kept = `dshweb.draft.${root.dataset.user}.${root.dataset.settings}`;
let asking = new AbortController();
let acting = false; // the answer to a button is on its way: nothing can be typed that it would replace
let timer = 0;
let limit = 0;
let mine = null; // the draft as this window stored it last; other windows of the same person store theirs in the same place
let waiting = null; // a stored draft that is not shown yet: nothing can be typed over it

const form = () => root.querySelector("form#draft");
const target = () => new URL(form().getAttribute("action"), location.href); // its buttons are named "action" and hide the property
const words = (name) => document.querySelector(`template[data-words-${name}]`).innerHTML;
const saveButton = () => root.querySelector("[data-save]");
const told = () => root.querySelector('[data-part="save"]'); // what the server said last: how many changes, errors, a conflict
const say = (text) => { if (live.textContent !== text) live.textContent = text; };

// everything typed, also what is switched off in native mode
function typed(submitter) {
  const off = [...root.querySelectorAll("fieldset[data-native-off]:disabled")];
  const doubles = [...root.querySelectorAll("input[data-kept]")];
  off.forEach((field) => { field.disabled = false; });
  doubles.forEach((field) => { field.disabled = true; });
  const data = new FormData(form(), submitter);
  off.forEach((field) => { field.disabled = true; });
  doubles.forEach((field) => { field.disabled = false; });
  return data;
}

function keep() {
  if (!saveButton()) return;
  const text = JSON.stringify([...typed()].filter(([name]) => !["csrfmiddlewaretoken", "action", "unset"].includes(name)));
  try {
    localStorage.setItem(kept, text);
    mine = text;
  } catch { mine ??= text; } // full or switched off: the page still has it, and what it stored before is still its own
}

function forget() {
  try { if (localStorage.getItem(kept) === mine) localStorage.removeItem(kept); } catch { /* nothing was kept */ }
  mine = null;
}

// whatever is stored, also by another window
function drop() {
  mine = waiting = null;
  try { localStorage.removeItem(kept); } catch { /* nothing was kept */ }
}

function remember() {
  if (told().dataset.changes === "0" && !("conflict" in told().dataset)) forget(); else keep();
}

function remembered() {
  const field = (one) => Array.isArray(one) && one.length === 2 && one.every((text) => typeof text === "string");
  try {
    const entries = JSON.parse(localStorage.getItem(kept));
    return Array.isArray(entries) && entries.length && entries.every(field) ? entries : null;
  } catch { return null; }
}

// ---- what the page looks like for what is typed

function settle() {
  root.querySelector(".set").inert = acting || waiting !== null;
  root.querySelectorAll(".no-js").forEach((one) => { one.hidden = true; });
  root.querySelector("[data-ratio]").hidden = false;
  root.querySelectorAll("[data-typed]").forEach((one) => { one.hidden = root.querySelector("#id_route")?.value !== "other"; });
  const native = root.querySelector("input[name=mode]:checked")?.value === "native";
  if (saveButton()) {
    root.querySelectorAll("fieldset[data-native-off]").forEach((field) => { field.disabled = native; });
    const { changes, errors, conflict } = told().dataset;
    saveButton().disabled = acting || waiting !== null || conflict !== undefined || changes === "0" || errors !== "0";
  }
}

function swapParts(page) {
  for (const known of root.querySelectorAll("[data-part]")) {
    const fresh = page.querySelector(`[data-part="${known.dataset.part}"]`);
    if (!fresh || known.contains(document.activeElement) || known.outerHTML === fresh.outerHTML) continue;
    known.replaceWith(fresh);
    fresh.dispatchEvent(new CustomEvent("dshweb:replaced", { bubbles: true }));
  }
  for (const field of form().querySelectorAll("[id^=id_]")) {
    const wrong = page.getElementById(field.id)?.getAttribute("aria-invalid");
    if (wrong) field.setAttribute("aria-invalid", wrong); else field.removeAttribute("aria-invalid");
  }
}

function swapAll(page) {
  const open = root.querySelector("details[data-adv]")?.open;
  const fresh = page.querySelector("[data-settings]");
  root.dataset.revision = fresh.dataset.revision;
  root.replaceChildren(...fresh.childNodes);
  if (open) root.querySelector("details[data-adv]").open = true;
  root.dispatchEvent(new CustomEvent("dshweb:replaced", { bubbles: true }));
}

// `again`: somebody pressed a button and is told once more; what is asked by itself says it once
function fail(error, again) {
  if (error.name === "AbortError") return;
  settle();
  told().removeAttribute("aria-busy");
  saveButton().disabled = waiting !== null || "conflict" in told().dataset; // nobody has judged what is typed, and saving it is a way to learn
  const notes = root.querySelector('[data-part="notes"]');
  const before = notes.querySelector("[data-failed]");
  if (before && !again) return;
  before?.remove();
  const note = document.createElement("div");
  note.className = "note note-red";
  note.setAttribute("role", "alert");
  note.dataset.failed = "";
  note.innerHTML = `<div>${words(error.why ?? "broken")}</div>`;
  notes.prepend(note);
  note.scrollIntoView({ block: "nearest" });
}

// ---- asking the server

async function send(data, signal) {
  const options = data ? { method: "POST", body: data } : {};
  const answer = await fetch(target(), { ...options, signal, headers: { "x-requested-with": "fetch" } });
  const url = new URL(answer.url);
  if (url.pathname !== target().pathname) throw Object.assign(new Error(), { why: "out" });
  return { status: answer.status, url, page: new DOMParser().parseFromString(await answer.text(), "text/html") };
}

async function ask(data, signal) {
  let answer = await send(data, signal);
  if (answer.status === 403) { // the right was taken back, or the form is of an earlier login of the same person
    const { page } = await send(null, signal);
    const token = page.querySelector("#draft [name=csrfmiddlewaretoken]")?.value;
    if (token && page.querySelector("[data-save]") && page.querySelector("[data-settings]").dataset.user === root.dataset.user) {
      root.querySelectorAll("[name=csrfmiddlewaretoken]").forEach((field) => { field.value = token; });
      data.set("csrfmiddlewaretoken", token);
      answer = await send(data, signal);
    }
  }
  const { status, page } = answer;
  if (status === 403 || status === 404) throw Object.assign(new Error(), { why: "refused" });
  if (![200, 409, 422].includes(status) || !page.querySelector("[data-settings]")) throw Object.assign(new Error(), { status });
  return answer;
}

async function look() {
  if (acting || !saveButton()) return;
  if (waiting) return restore();
  anew();
  const data = typed();
  data.set("action", "draft");
  try {
    const { page } = await ask(data, asking.signal);
    swapParts(page);
    remember();
    settle();
    say([...told().querySelectorAll("strong, .wrong")].map((one) => one.textContent.trim()).join(" "));
  } catch (error) {
    fail(error, false);
  }
}

function soon() {
  settle();
  keep();
  if (saveButton()) saveButton().disabled = true; // until the rules have spoken about what is typed now
  anew();
  timer = setTimeout(look, PAUSE);
}

// an older answer is not waited for any more; until the next one comes, the bar says so
function anew() {
  clearTimeout(timer);
  timer = 0;
  asking.abort();
  asking = new AbortController();
  clearTimeout(limit); // a line that went dead says nothing, and the form may be waiting
  limit = setTimeout((one) => one.abort(new DOMException("no answer", "TimeoutError")), PATIENCE, asking);
  told().setAttribute("aria-busy", "true");
}

async function act(data, submitter) {
  anew();
  acting = true;
  settle();
  try {
    const { page, url } = await ask(data, asking.signal);
    acting = false;
    if (waiting) [mine, waiting] = [JSON.stringify(waiting), null];
    swapAll(page);
    if (url.searchParams.has("saved")) {
      forget();
      url.searchParams.delete("saved");
      history.replaceState(null, "", url);
    } else remember();
    settle();
    const first = root.querySelector("[data-focus]");
    if (first) first.focus();
    else if (submitter) reach(submitter.name === "unset" ? root.querySelector(`#id_${submitter.value}`) : saveButton());
  } catch (error) {
    acting = false;
    if (error.status === 400) waiting = null; // no draft of this form
    fail(error, true);
    submitter?.focus();
  }
}

// shows the stored draft; where that fails it stays stored, and the next look tries again
async function restore() {
  const data = new FormData();
  waiting.forEach(([name, value]) => data.append(name, value));
  data.set("csrfmiddlewaretoken", form().elements.csrfmiddlewaretoken.value);
  data.set("session", form().elements.session.value);
  data.set("action", "draft");
  await act(data);
  if (!waiting && told().dataset.changes !== "0") say(words("kept"));
}

// a control, or the first one inside
function reach(place) {
  place?.closest("details")?.setAttribute("open", "");
  (place?.matches("input, select, button") ? place : place?.querySelector("input, select"))?.focus();
}

// ---- what people do

root.addEventListener("input", (event) => {
  const { name } = event.target;
  if (name === "retainRatio") root.querySelector("[name=retainForm][value=ratio]").checked = true; // what is typed is what is meant
  if (name === "retainTokens") root.querySelector("[name=retainForm][value=tokens]").checked = true;
  if (name && name !== "session" && event.target.form === form()) soon(); // the export has forms of its own
});

root.addEventListener("change", (event) => {
  if (event.target.name !== "session") return;
  const url = new URL(location.href);
  url.search = `?session=${event.target.value}`;
  if (!saveButton()) return location.assign(url);
  history.replaceState(null, "", url);
  look();
});

root.addEventListener("submit", (event) => {
  if (event.target.id !== "draft") return;
  event.preventDefault();
  if (acting || waiting) return;
  if (event.submitter?.name === "action" && event.submitter.value === "draft") look();
  else act(typed(event.submitter), event.submitter);
});

root.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (link?.matches("[data-drop]")) { anew(); drop(); }
  const goal = link?.getAttribute("href")?.startsWith("#id_") && root.querySelector(link.getAttribute("href"));
  if (!goal) return;
  event.preventDefault();
  reach(goal);
});

root.addEventListener("keydown", (event) => {
  if (event.target.name !== "mode") return;
  const cards = [...root.querySelectorAll("input[name=mode]")];
  const to = { Home: cards[0], End: cards.at(-1), Enter: event.target }[event.key];
  if (!to) return;
  event.preventDefault();
  to.focus();
  if (to.checked) return;
  to.checked = true;
  to.dispatchEvent(new Event("input", { bubbles: true }));
});

function again() {
  if (document.hidden || timer || acting || (mine === null && !waiting)) return;
  if (mine !== null) keep(); // of several windows the one looked at last
  look();
}
document.addEventListener("visibilitychange", again);
window.addEventListener("online", again);
setInterval(again, LOOK);

const query = new URLSearchParams(location.search);
settle();
if (query.has("from")) {
  remember();
  query.delete("from"); // from now on this is the draft, also after a reload
  history.replaceState(null, "", `?${query}`);
} else if (saveButton() && (waiting = remembered())) restore();
sweep(root);
