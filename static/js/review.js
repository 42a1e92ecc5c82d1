// Verdicts without leaving the page: c confirms, d dismisses, u undoes, n opens the note of the current signal
// (.signal[aria-current="true"]). The same form is sent as without this script; what the server answers takes the place
// of what was there. Nothing looks saved that the server did not say it saved, and a note is never lost.
const CURRENT = '.signal[aria-current="true"]';
const KEYS = { c: "confirmed", d: "dismissed", u: "" };

const voice = document.createElement("p");
voice.className = "vh";
voice.setAttribute("role", "status");
document.body.append(voice);

const typing = (target) => target.closest?.("input, textarea, select, [contenteditable]") !== null;
const current = () => document.querySelector(`${CURRENT} .verdict`);
const button = (form, verdict) => [...form.elements].find((one) => one.name === "verdict" && one.value === verdict && !("save" in one.dataset));
const saver = (form) => form.querySelector("[data-save]");

function fold(signal, open) {
  const place = signal.querySelector(".verdict-do");
  if (place && !(place.open && !open && place.contains(document.activeElement))) place.open = open;
}

function fail(form, words) {
  const place = form.querySelector(".verdict-e");
  place.querySelector("span").textContent = words;
  place.hidden = false;
  form.closest(".verdict-do").open = true;
}

async function send(form, pressed) {
  const verdict = form.closest(".verdict");
  const signal = verdict.closest(".signal");
  if (!pressed || verdict.getAttribute("aria-busy") === "true") return;
  const body = new URLSearchParams(new FormData(form));
  body.set("verdict", pressed.value);
  const note = form.elements.note;
  const sent = note.value;
  verdict.setAttribute("aria-busy", "true");
  form.querySelector(".verdict-e").hidden = true;
  let words = form.dataset.failed;
  try {
    const answer = await fetch(form.action, {
      method: "POST", body, headers: { "X-Fragment": "1" }, redirect: "manual", cache: "no-store", signal: AbortSignal.timeout(20000),
    });
    const text = await answer.text();
    if (answer.ok && answer.headers.get("X-Fragment") === "1") return swap(signal, verdict, text, note.value === sent ? null : note.value);
    if (answer.type === "opaqueredirect") words = form.dataset.out;
    else if ((answer.headers.get("Content-Type") || "").startsWith("text/plain") && text) words = text;
  } catch {
    // the words for "not saved" stand
  }
  verdict.removeAttribute("aria-busy");
  fail(form, words);
}

function swap(signal, old, html, typed) {
  const piece = document.createRange().createContextualFragment(html);
  const fresh = piece.querySelector(".verdict");
  const inside = old.contains(document.activeElement);
  const place = fresh.querySelector(".verdict-do");
  if (place) place.open = typed !== null;
  if (typed !== null && place) place.querySelector("textarea").value = typed;
  old.replaceWith(fresh);
  if (inside) (typed !== null ? place?.querySelector("textarea") : fresh.querySelector("summary"))?.focus();
  tell(old.dataset.verdict, fresh.dataset.verdict);
  voice.textContent = fresh.querySelector(".verdict-now").textContent.replace(/\s+/g, " ").trim();
  fresh.dispatchEvent(new CustomEvent("dshweb:replaced", { bubbles: true }));
  signal.dispatchEvent(new CustomEvent("dshweb:reviewed", { bubbles: true, detail: { verdict: fresh.dataset.verdict, before: old.dataset.verdict } }));
}

// "n of m reviewed", whose first number is n: data-reviewed="n"
function tell(before, now) {
  const step = Number(now !== "open") - Number(before !== "open");
  if (!step) return;
  for (const place of document.querySelectorAll("[data-reviewed]")) {
    const n = Math.max(0, Number(place.dataset.reviewed) + step);
    place.dataset.reviewed = String(n);
    place.textContent = place.textContent.replace(/\d+/, String(n));
  }
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches(".verdict-f")) return;
  event.preventDefault();
  send(event.target, event.submitter || saver(event.target));
});

document.addEventListener("keydown", (event) => {
  const form = event.target.closest?.(".verdict-f");
  if (form && event.target.name === "note") {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      send(form, saver(form));
    } else if (event.key === "Escape" && !event.isComposing) {
      event.preventDefault();
      event.stopPropagation();
      const place = form.closest(".verdict-do");
      place.querySelector("summary").focus();
      place.open = false;
    }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.isComposing || event.repeat) return;
  if (typing(event.target) || document.querySelector("dialog[open]")) return;
  const verdict = current();
  const place = verdict?.querySelector(".verdict-do");
  if (!place) return;
  const inForm = place.querySelector(".verdict-f");
  if (event.key === "n") {
    event.preventDefault();
    place.open = true;
    const note = inForm.elements.note;
    note.focus();
    note.setSelectionRange(note.value.length, note.value.length);
  } else if (event.key in KEYS) {
    const pressed = button(inForm, KEYS[event.key]);
    if (!pressed) return;
    event.preventDefault();
    send(inForm, pressed);
  }
});

// one signal is open at a time: the current one
new MutationObserver((changes) => {
  for (const { target } of changes) {
    if (target.matches(".signal")) fold(target, target.getAttribute("aria-current") === "true");
  }
}).observe(document.body, { subtree: true, attributeFilter: ["aria-current"] });
for (const signal of document.querySelectorAll(CURRENT)) fold(signal, true);
