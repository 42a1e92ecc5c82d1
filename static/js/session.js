// A session that is being written: new messages come in without a reload. Conditional requests, so that nothing new costs
// next to nothing; pauses grow while nothing comes; the reader's place is never moved.
const SOON = 2000;
const LATE = 20000;

for (const link of document.querySelectorAll("[data-sessions]")) link.search = sessionStorage.getItem("sessions") ?? "";

// what an address points at must not stay folded away
function unfold() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (!target) return;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();

const flow = document.querySelector("[data-live]");
const newest = document.querySelector("[data-newest]");

if (flow) {
  let url = flow.dataset.live;
  let tag = null;
  let pause = SOON;
  let timer = 0;
  let looked = false;
  const following = document.querySelector("[data-following]");
  following.hidden = false;

  // what a reader unfolded, or folded, stays so
  function keepFolds(known, fresh) {
    const open = [...known.querySelectorAll("details")].map((fold) => fold.open);
    fresh.querySelectorAll("details").forEach((fold, at) => { fold.open = open[at] ?? fold.open; });
  }

  const nearEnd = () => flow.getBoundingClientRect().bottom < innerHeight + 120;

  function put(fresh) {
    const known = document.getElementById(fresh.id);
    if (!known) {
      fresh.classList.add("msg-new");
      flow.append(fresh);
      return true;
    }
    keepFolds(known, fresh);
    if (known.parentElement !== flow || known.contains(document.activeElement) || known.innerHTML === fresh.innerHTML) return false;
    known.replaceWith(fresh);
    return false;
  }

  // what stands beside the conversation tells of the same log: numbers, damage, compactions
  async function besides() {
    const answer = await fetch(location.href, { cache: "no-store" });
    if (!answer.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelectorAll("[data-side]");
    document.querySelectorAll("[data-side]").forEach((known, at) => {
      if (!fresh[at] || known.contains(document.activeElement)) return;
      keepFolds(known, fresh[at]);
      known.replaceChildren(...fresh[at].childNodes);
      known.dispatchEvent(new CustomEvent("dshweb:replaced", { bubbles: true }));
    });
  }

  async function look() {
    if (document.hidden) return again();
    try {
      const answer = await fetch(url, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
      if (answer.status === 404 || answer.status === 403 || answer.redirected) { // no longer ours to follow
        following.hidden = true;
        return;
      }
      if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const found = page.querySelector("[data-next]");
        let news = 0;
        for (const one of [...found.children]) if (put(document.adoptNode(one))) news += 1;
        tag = found.dataset.next === url ? answer.headers.get("ETag") : null;
        url = found.dataset.next;
        if (news) {
          flow.dispatchEvent(new CustomEvent("dshweb:replaced", { bubbles: true }));
          if (!nearEnd()) newest.hidden = false;
        }
        pause = news || found.dataset.on ? SOON : Math.min(LATE, pause * 1.5);
        if (news || looked) await besides();
        looked = true;
      } else {
        pause = Math.min(LATE, pause * 1.5);
      }
    } catch {
      pause = LATE;
    }
    again();
  }

  function again() {
    clearTimeout(timer);
    timer = setTimeout(look, pause);
  }

  newest.addEventListener("click", () => {
    newest.hidden = true;
    flow.lastElementChild.scrollIntoView({ block: "end" });
  });
  addEventListener("scroll", () => { if (nearEnd()) newest.hidden = true; }, { passive: true });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    pause = SOON;
    again();
  });
  again();
}
