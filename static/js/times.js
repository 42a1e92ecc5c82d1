// Absolute times on hover in the zone the person chose, else the browser's own. Without this script: in that zone too, else
// the server's, and they say so.
const locale = document.documentElement.lang || undefined;
const style = { dateStyle: "medium", timeStyle: "long" };
const shape = shapeOf(document.documentElement.dataset.timeZone);

function shapeOf(timeZone) {
  try {
    return new Intl.DateTimeFormat(locale, { ...style, timeZone });
  } catch { // a zone this browser does not know
    return new Intl.DateTimeFormat(locale, style);
  }
}

export function localise(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (!Number.isNaN(moment.valueOf())) time.title = shape.format(moment);
  }
}

localise(document);
for (const place of document.querySelectorAll("[data-zone]")) place.textContent = shape.resolvedOptions().timeZone;
document.addEventListener("dshweb:replaced", (event) => localise(event.target));
