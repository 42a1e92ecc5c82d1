// Keeps the changing part of a page fresh while something in it is being done.
// The server answers 304 while nothing changed; the pause grows then, and nothing is asked while the page is hidden.
const SOON = 1500;
const LATE = 10000;

for (const place of document.querySelectorAll("[data-refresh]")) {
  let pause = SOON;
  let last = null;

  const busy = () => place.querySelector("[data-busy]") !== null;

  async function look() {
    if (document.hidden || place.contains(document.activeElement)) return schedule();
    try {
      const headers = last ? { "If-None-Match": last } : {};
      const answer = await fetch(place.dataset.refresh, { headers, cache: "no-store" });
      if (answer.ok && !answer.redirected) {
        last = answer.headers.get("ETag");
        place.innerHTML = await answer.text();
        place.dispatchEvent(new CustomEvent("dshweb:replaced", { bubbles: true }));
        pause = SOON;
      } else {
        pause = Math.min(LATE, pause * 1.5);
      }
    } catch {
      pause = LATE;
    }
    schedule();
  }

  function schedule() {
    if (busy()) setTimeout(look, pause);
  }

  document.addEventListener("visibilitychange", () => { if (!document.hidden) pause = SOON; });
  schedule();
}
