// Keeps the changing part of a page fresh: fast while something in it is being done (data-busy), slowly where something new
// may come (data-live), not at all otherwise. The server answers 304 while nothing changed, and the pause grows; nothing is
// asked while the page is hidden, and nothing is replaced under a focus that is inside.
const SOON = 1500;
const LATE = 10000;
const IDLE = 20000;

for (const place of document.querySelectorAll("[data-refresh]")) {
  let pause = SOON;
  let last = null;
  let timer = 0;

  async function look() {
    timer = 0;
    if (document.hidden) return;
    if (place.contains(document.activeElement)) return schedule();
    try {
      const headers = last ? { "If-None-Match": last } : {};
      const answer = await fetch(place.dataset.refresh, { headers, cache: "no-store" });
      if (answer.ok && !answer.redirected) {
        last = answer.headers.get("ETag");
        const text = await answer.text();
        if (!place.contains(document.activeElement)) {
          place.innerHTML = text;
          place.dispatchEvent(new CustomEvent("dshweb:replaced", { bubbles: true }));
        } else last = null;
        pause = SOON;
      } else if (answer.redirected || answer.status === 403 || answer.status === 404) {
        return; // logged out, or gone: what is shown stays, and nobody is asked any more
      } else {
        pause = Math.min(LATE, pause * 1.5);
      }
    } catch {
      pause = LATE;
    }
    schedule();
  }

  function schedule() {
    if (timer) return;
    if (place.querySelector("[data-busy]")) timer = setTimeout(look, pause);
    else if (place.querySelector("[data-live]")) timer = setTimeout(look, Math.max(pause, IDLE));
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    pause = SOON;
    schedule();
  });
  schedule();
}
