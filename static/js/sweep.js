// What-if beside the chart. The server sends one session's answers for all ratios in one piece (page/sweep_drawing.py); a ratio that is
// dragged is then drawn from these without asking again. Other settings, another session and a ratio between two hundredths are asked for.
// `root` holds the section [data-sweep], the draft's fields and a slider `input[type=range][data-ratio]` without a name; all of them
// may be replaced at any time (told by "dshweb:replaced"). Without this script the section is a link to the whole page.
const FIELDS = ["auto", "headroomTokens", "maxTokens", "retainForm", "retainRatio", "retainTokens"];
const SLIDER = "input[type=range][data-ratio]";
const PAUSE = 350;
const SAY_PAUSE = 700;
const BUSY_PAUSE = 5000;
const [LEFT, RIGHT, HIGH, LOW, LAST_BELOW, ABOVE] = [10, 990, 110, 930, 830, 40]; // as in page/sweep_drawing.py
const NAMED = 8;
const GAP = "\u202f";

export function attach(root) {
  const live = document.createElement("p");
  live.className = "vh";
  live.setAttribute("role", "status");
  root.after(live);
  let section = null;
  let look = null; // what the section shows, once it is loaded
  let seen = false;
  let asked = null; // what it was loaded for, or is being
  let asking = new AbortController();
  let timer = 0;
  let sayTimer = 0;
  let again = 0;
  let dragged = null; // the slider of somebody who may only read: the field keeps the saved value

  const near = new IntersectionObserver((all) => {
    if (!all.some((one) => one.isIntersecting)) return;
    near.disconnect();
    seen = true;
    show();
  }, { rootMargin: "200px 0px" });

  const field = () => root.querySelector("input[name=thresholdRatio]");
  const body = () => section.querySelector("[data-sweep-body]") ?? section;

  function ratioText() {
    if (dragged !== null) return dragged;
    const text = field()?.value.replace(/[\s_]/g, "") ?? "";
    return text || field()?.placeholder || "0.8";
  }

  function valueOf(name) {
    const all = [...root.querySelectorAll(`[name="${name}"]`)].filter((one) => one.type !== "hidden");
    const one = all[0]?.type === "radio" ? all.find((each) => each.checked) : all[0];
    return one?.type === "checkbox" && !one.checked ? "off" : one?.value;
  }

  // the settings and the session, without the ratio
  function others() {
    const query = new URLSearchParams();
    for (const name of ["session", ...FIELDS]) {
      const value = valueOf(name) ?? (name === "session" ? section.dataset.session : undefined);
      if (value !== undefined) query.set(name, value);
    }
    return query.toString();
  }

  function adopt() {
    const found = root.querySelector("[data-sweep]");
    if (!found || found === section) return;
    section = found;
    look = asked = null;
    seen = false;
    asking.abort();
    clearTimeout(timer);
    near.disconnect();
    near.observe(section);
    syncSlider();
  }

  function syncSlider() {
    const slider = root.querySelector(SLIDER);
    const ratio = Number(ratioText());
    if (slider && ratio > 0 && Number(slider.value) !== ratio) slider.value = ratio;
  }

  // ---- what is shown for the ratio of now

  function show() {
    if (!section || !seen) return;
    const text = ratioText();
    const ratio = Number(text);
    const at = Math.round(ratio * 100);
    const query = others();
    clearTimeout(timer);
    if (look?.others === query && (look.ratio === ratio || (at >= 1 && at <= 99 && Math.abs(at / 100 - ratio) < 1e-9))) {
      asking.abort();
      clearTimeout(again);
      section.removeAttribute("aria-busy");
      asked = { others: query, ratio: text };
      if (look.ratio !== ratio) draw(at);
      return;
    }
    if (asked?.others !== query || asked.ratio !== text) timer = setTimeout(load, asked ? PAUSE : 0, query, text);
  }

  async function load(query, text) {
    asking.abort();
    asking = new AbortController();
    const mine = asking;
    const first = look === null && asked === null;
    asked = { others: query, ratio: text };
    clearTimeout(again);
    section.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(`${section.dataset.sweep}?${query}&thresholdRatio=${encodeURIComponent(text)}`, { signal: mine.signal, headers: { "x-requested-with": "fetch" } });
      if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
      const html = await answer.text();
      if (mine.signal.aborted) return;
      const open = section.querySelector("details[data-table]")?.open;
      body().innerHTML = html;
      if (open && section.querySelector("details[data-table]")) section.querySelector("details[data-table]").open = true;
      look = read(body().querySelector("[data-look]"), query);
      if (look && !first) say();
      if (body().querySelector("[data-again]")) again = setTimeout(() => { asked = null; show(); }, BUSY_PAUSE);
    } catch (error) {
      if (error.name === "AbortError") return;
      look = null;
      asked = { others: query, ratio: text }; // asked for anew when something changes
      body().querySelector("[data-look]")?.remove();
      const failed = body().querySelector("[data-failed]");
      if (failed) failed.hidden = false;
    }
    section.removeAttribute("aria-busy");
    if (ratioText() !== text || others() !== query) show();
  }

  function read(place, others) {
    if (!place) return null;
    const data = JSON.parse(place.dataset.rows);
    data.rows.forEach((row, n) => { if (row === 0) data.rows[n] = data.rows[n - 1]; });
    const { n, told } = place.querySelector('[data-out="count"]').dataset;
    return { others, place, data, words: JSON.parse(place.dataset.words), ratio: Number(place.dataset.drawn), count: Number(n), told: told === "1" };
  }

  // ---- drawing, as the server draws it

  const grouped = (n) => (n === null || n === undefined ? null : String(n).replace(/\B(?=(\d{3})+$)/g, GAP));
  const put = (place, text) => place.replaceChildren(text ?? look.place.querySelector("template[data-unknown]").content.cloneNode(true));
  const fill = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const counted = (name, n, more = {}) => fill(look.words[`${name}${n === 1 ? "One" : "Many"}`], { n: grouped(n), ...more });
  const x = (n) => (look.data.n > 1 ? Math.round(LEFT + ((RIGHT - LEFT) * n) / (look.data.n - 1)) : (LEFT + RIGHT) / 2);
  const y = (tokens) => (tokens > look.data.top ? ABOVE : Math.round(LOW - ((LOW - HIGH) * tokens) / look.data.top));

  function draw(at) {
    const [limits, over, count, untold, crossings, why] = look.data.rows[at - 1];
    const trigger = limits[look.data.last];
    const text = String(at / 100);
    look.ratio = at / 100;
    look.count = count;
    out("ratio", text);
    look.told = untold < look.data.n;
    out("count", look.told ? counted("times", count) : null);
    out("over", fill(look.words.over, { n: grouped(over) }), !look.told);
    out("untold", fill(look.words.untold, { n: grouped(untold) }), untold === 0);
    out("trigger", trigger === null ? null : fill(look.words.tokens, { n: grouped(trigger) }));
    out("why", trigger === null ? look.data.why[why] : "");
    look.place.querySelector("[data-why]").hidden = trigger !== null;
    drawLine(limits, trigger);
    const marked = new Set(crossings);
    mark(look.data.places.filter((place, n) => marked.has(n)));
    name(crossings, count);
    list([...new Set([...crossings, ...look.data.fired])].sort((one, two) => one - two), marked, limits, count - crossings.length);
    const link = section.querySelector("a[data-full]");
    if (link) {
      const url = new URL(link.href);
      if (trigger !== null) url.searchParams.set("thresholdRatio", text);
      link.href = url;
    }
    say();
  }

  function out(name, text, hidden = false) {
    const place = look.place.querySelector(`[data-out="${name}"]`);
    put(place, text);
    place.hidden = hidden;
  }

  function drawLine(limits, trigger) {
    const { parts } = look.data;
    let path = "";
    let drawn = false;
    parts.forEach(([first, route], n) => {
      const limit = limits[route];
      if (limit !== null) path += `${drawn ? "L" : "M"}${n ? x(first) : 0} ${y(limit)}H${n + 1 < parts.length ? x(parts[n + 1][0]) : 1000}`;
      drawn = limit !== null;
    });
    look.place.querySelector("[data-line]").setAttribute("d", path);
    const above = trigger !== null && trigger > look.data.top;
    const label = look.place.querySelector("[data-label]");
    label.textContent = trigger === null ? look.words.none : `${fill(look.words.trigger, { n: grouped(trigger) })}${above ? " ↑" : ""}`;
    label.setAttribute("y", `${(trigger === null ? ABOVE : y(trigger)) / 10}%`);
    label.setAttribute("dy", trigger !== null && y(trigger) > LAST_BELOW ? -5 : 14);
  }

  function mark(places) {
    look.place.querySelector("[data-marks]").replaceChildren(...places.filter((place) => place[3] !== null).map((place) => {
      const one = document.createElementNS("http://www.w3.org/2000/svg", "use");
      one.setAttribute("class", "sweep-would");
      one.setAttribute("href", "#sweep-would");
      one.setAttribute("x", `${x(place[0]) / 10}%`);
      one.setAttribute("y", `${y(place[3]) / 10}%`);
      return one;
    }));
  }

  function linkTo(seq, link = document.createElement("a")) {
    link.textContent = grouped(seq);
    link.href = look.place.dataset.event.replace("/events/0", `/events/${seq}`);
    return link;
  }

  // the first few in a sentence
  function name(crossings, count) {
    const named = crossings.slice(0, NAMED);
    const links = named.flatMap((n, at) => [...(at ? [", "] : []), linkTo(look.data.places[n][1])]);
    look.place.querySelector("[data-links]").replaceChildren(...links);
    look.place.querySelector("[data-seqs]").hidden = named.length === 0;
    out("rest", counted("more", count - named.length), count === named.length);
  }

  function list(numbers, marked, limits, hidden) {
    const row = look.place.querySelector("template[data-row]").content;
    look.place.querySelector("[data-places]").replaceChildren(...numbers.map((n) => {
      const [, seq, turn, tokens, route, fired] = look.data.places[n];
      const made = row.cloneNode(true);
      linkTo(seq, made.querySelector("a"));
      [turn, tokens, limits[route]].forEach((value, cell) => put(made.querySelectorAll("td")[cell], grouped(value)));
      if (!marked.has(n)) made.querySelector("[data-would]").remove();
      if (!fired) made.querySelector("[data-fired]").remove();
      return made;
    }));
    out("nowhere", look.place.querySelector('[data-out="nowhere"]').textContent, numbers.length > 0);
    out("more", counted("more", hidden), hidden < 1);
  }

  function say() {
    clearTimeout(sayTimer);
    sayTimer = setTimeout(() => {
      if (!look) return;
      const ratio = String(look.ratio);
      live.textContent = look.told ? counted("say", look.count, { ratio }) : fill(look.words.sayNone, { ratio });
    }, SAY_PAUSE);
  }

  // ---- what people do

  root.addEventListener("input", (event) => {
    if (event.target.matches(SLIDER)) {
      const text = field();
      if (text && !text.readOnly && !text.disabled) {
        text.value = event.target.value;
        text.dispatchEvent(new Event("input", { bubbles: true })); // the draft hears of it as if it were typed
      } else {
        dragged = event.target.value;
        show();
      }
    } else if (event.target.name === "thresholdRatio") {
      syncSlider();
      show();
    } else if (FIELDS.includes(event.target.name)) show();
  });
  root.addEventListener("change", (event) => { if (event.target.name === "session" || event.target.type === "radio") show(); });
  root.addEventListener("dshweb:replaced", () => { adopt(); syncSlider(); show(); });
  adopt();
}
