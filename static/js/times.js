// Absolute times on hover in the reader's own time zone. Without this script they are in the server's zone, and say so.
const locale = document.documentElement.lang || undefined;
const shape = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "long" });

export function localise(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (!Number.isNaN(moment.valueOf())) time.title = shape.format(moment);
  }
}

localise(document);
for (const place of document.querySelectorAll("[data-zone]")) place.textContent = shape.resolvedOptions().timeZone;
document.addEventListener("dshweb:replaced", (event) => localise(event.target));
