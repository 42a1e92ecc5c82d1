// Sends the chosen or dropped files one by one, two at a time, with progress, retry and a result for each.
// Without this script the form is sent as it is, and its answer is the page of results.
const AT_ONCE = 2;
const SOON = 1500;
const LATE = 8000;
const LOG = /\.jsonl(\.zstd)?$/;

const form = document.querySelector("[data-upload]");
const words = form.dataset;
const token = form.querySelector("[name=csrfmiddlewaretoken]").value;
const input = form.querySelector("input[type=file]");
const drop = form.querySelector("[data-drop]");
const panel = document.querySelector("[data-files]");
const list = panel.querySelector("ul");
const sum = panel.querySelector("[data-sum]");
const permalink = panel.querySelector("[data-permalink]");
const pattern = document.querySelector("template[data-row]");

const waiting = [];
let sending = 0;
let unsent = 0;
let open = new Map(); // task id → its row
let all = [];
let pause = SOON;
let timer = 0;
let tag = null;
let lastQuery = "";

form.classList.add("has-js");
for (const part of form.querySelectorAll("[data-if-js]")) part.hidden = false;

function bytes(n) {
  const units = ["B", "kB", "MB", "GB"];
  let at = 0;
  while (n >= 1000 && at < 3) { n /= 1000; at += 1; }
  return `${at ? n.toFixed(1) : n}\u202f${units[at]}`;
}

class Row {
  constructor(file) {
    this.file = file;
    this.element = pattern.content.firstElementChild.cloneNode(true);
    const [name, size] = this.element.querySelectorAll(".up-name span");
    name.textContent = file.name;
    size.textContent = file.size === null ? "—" : bytes(file.size);
    this.bar = this.element.querySelector("progress");
    this.bar.setAttribute("aria-label", file.name);
    this.how = this.element.querySelector(".up-how span");
    this.again = this.element.querySelector("button");
    this.again.textContent = words.wordsRetry;
    this.again.addEventListener("click", () => this.queue());
    list.append(this.element);
  }

  queue() {
    this.again.hidden = true;
    this.how.className = "soft";
    if (this.file.size > Number(words.most)) return this.refuse(words.wordsLarge, false);
    if (!this.file.size) return this.refuse(words.wordsEmpty, false);
    this.say(words.wordsWaits);
    this.bar.hidden = false;
    this.bar.value = 0;
    waiting.push(this);
    unsent += 1;
    pump();
  }

  say(text) { this.how.textContent = text; }

  refuse(text, mayRetry = true) {
    this.how.className = "wrong";
    this.say(text);
    this.bar.hidden = true;
    this.again.hidden = !mayRetry;
  }

  send() {
    const request = new XMLHttpRequest();
    const query = new URLSearchParams({ name: this.file.name, team: form.elements.team.value });
    request.open("POST", `${words.upload}?${query}`);
    request.setRequestHeader("X-CSRFToken", token);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => {
      if (!event.lengthComputable) return;
      this.bar.value = event.loaded / event.total;
      this.say(`${Math.floor((100 * event.loaded) / event.total)}\u202f%`);
    });
    request.addEventListener("loadend", () => this.ended(request));
    request.send(this.file);
  }

  ended(request) {
    const answer = request.response;
    if (request.status === 429 || request.status === 503) {
      this.say(words.wordsBusy);
      const seconds = Number(request.getResponseHeader("Retry-After")) || 10;
      setTimeout(() => { waiting.push(this); pump(); }, seconds * 1000);
    } else {
      unsent -= 1;
      if (request.status === 202 && answer?.task) this.follow(answer.task.id);
      else if (request.status === 401) this.refuse(words.wordsOut);
      else this.refuse(answer?.message || words.wordsLost);
    }
    sending -= 1;
    pump();
  }

  follow(task) {
    this.say(words.wordsSent);
    this.bar.removeAttribute("value");
    this.element.dataset.task = task;
    all.push(task);
    sum.textContent = `${words.wordsSum} ${all.length} / ${list.children.length}`;
    open.set(String(task), this);
    permalink.href = `${words.results}?${all.map((id) => `task=${id}`).join("&")}`;
    permalink.hidden = false;
    pause = SOON;
    schedule();
  }
}

function pump() {
  while (sending < AT_ONCE && waiting.length) {
    sending += 1;
    waiting.shift().send();
  }
}

function add(files) {
  if (!files.length) return;
  panel.hidden = false;
  for (const file of files) new Row(file).queue();
}

// what became of them: one question for all that are not done; 304 while nothing changed
async function look() {
  timer = 0;
  if (document.hidden) return;
  const query = `part&${[...open.keys()].map((id) => `task=${id}`).join("&")}`;
  if (query !== lastQuery) tag = null;
  lastQuery = query;
  try {
    const answer = await fetch(`${words.results}?${query}`, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
    if (answer.ok && !answer.redirected) {
      tag = answer.headers.get("ETag");
      show(await answer.text());
      pause = SOON;
    } else pause = Math.min(LATE, pause * 1.5);
  } catch {
    pause = LATE;
  }
  schedule();
}

function show(html) {
  const found = document.createElement("div");
  found.innerHTML = html;
  for (const fresh of found.querySelectorAll("li[data-task]")) {
    const row = open.get(fresh.dataset.task);
    if (!row) continue;
    if (!row.element.contains(document.activeElement)) {
      row.element.replaceWith(fresh);
      row.element = fresh;
      fresh.dispatchEvent(new CustomEvent("dshweb:replaced", { bubbles: true }));
    }
    if (fresh.dataset.busy === undefined) open.delete(fresh.dataset.task);
  }
}

function schedule() {
  if (!timer && open.size) timer = setTimeout(look, pause);
}

document.addEventListener("visibilitychange", () => { if (!document.hidden) { pause = SOON; schedule(); } });
input.addEventListener("change", () => { add([...input.files]); input.value = ""; });
form.addEventListener("submit", (event) => { event.preventDefault(); add([...input.files]); input.value = ""; });
for (const name of ["dragenter", "dragover"]) {
  drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("drop-over"); });
}
for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("drop-over"));
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (entries.some((entry) => entry.isDirectory)) fromFolders(entries).then(add);
  else add([...event.dataTransfer.files]);
});

// of a folder only what is named like a log, however deep it lies; what cannot be read is listed as such
async function fromFolders(entries) {
  const found = [];
  for (const entry of entries) {
    if (entry.isFile && !LOG.test(entry.name)) continue;
    try {
      found.push(...(entry.isFile ? [await asked(entry, "file")] : await fromFolders(await inFolder(entry))));
    } catch {
      panel.hidden = false;
      new Row({ name: entry.name, size: null }).refuse(words.wordsUnread, false);
    }
  }
  return found;
}

async function inFolder(folder) {
  const found = [];
  const reader = folder.createReader();
  for (;;) { // a reader gives some at a time
    const some = await asked(reader, "readEntries");
    if (!some.length) return found;
    found.push(...some);
  }
}

function asked(whom, what) {
  return new Promise((done, fail) => whom[what](done, fail));
}

// a file dropped beside the box must not replace the page
for (const name of ["dragover", "drop"]) window.addEventListener(name, (event) => event.preventDefault());
window.addEventListener("beforeunload", (event) => { if (unsent) event.preventDefault(); });
