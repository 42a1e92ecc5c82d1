// The originals of the compaction page as they are wanted: windows when the end of one is reached, pieces of long texts when asked
// for. Without this script both are links. What came in is told by "dshweb:replaced".
const tri = document.querySelector(".tri");
const read = tri.querySelector("[data-originals]");
const leaves = tri.querySelector("[data-leaves]");
const narrow = matchMedia("(max-width: 48rem)");

async function fragment(url) {
  const answer = await fetch(url, { headers: { "X-Fragment": "1" } });
  if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
  const box = document.createElement("template");
  box.innerHTML = await answer.text();
  return box.content;
}

const told = () => leaves.dispatchEvent(new CustomEvent("dshweb:replaced", { bubbles: true }));

async function loadWindow(link, at, back) {
  if (link.ariaBusy) return;
  link.ariaBusy = "true";
  try {
    const key = tri.dataset.key;
    const content = await fragment(`${tri.dataset.compaction}originals?at=${at}${key ? `&fact=${encodeURIComponent(key)}` : ""}`);
    content.querySelector(back ? ".more-on" : ".more-back")?.remove();
    const before = read.scrollHeight;
    link.closest(".more").replaceWith(content);
    if (back) read.scrollTop += read.scrollHeight - before;
    told();
  } catch {
    link.ariaBusy = null;
  }
}

async function openHole(hole) {
  if (hole.ariaBusy) return;
  hole.ariaBusy = "true";
  try {
    const content = await fragment(hole.href);
    const next = content.querySelector("a");
    hole.replaceWith(content);
    told();
    next?.focus({ preventScroll: true });
  } catch {
    location.href = hole.href;
  }
}

const near = new IntersectionObserver((seen) => {
  for (const one of seen) if (one.isIntersecting && !narrow.matches) loadWindow(one.target, one.target.dataset.onAt, false);
}, { root: read, rootMargin: "400px 0px" });

function watch() {
  near.disconnect();
  for (const link of leaves.querySelectorAll("[data-on-at]")) near.observe(link);
}

leaves.addEventListener("click", (event) => {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
  const link = event.target.closest(".hole, [data-back], [data-on-at]");
  if (!link) return;
  event.preventDefault();
  if (link.matches(".hole")) openHole(link);
  else loadWindow(link, link.dataset.back ?? link.dataset.onAt, "back" in link.dataset);
});

leaves.addEventListener("dshweb:replaced", watch);
watch();
