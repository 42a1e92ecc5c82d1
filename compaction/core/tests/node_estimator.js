// The fixed estimator of COMPACTION §3 in its own language: one JSON text a line in, its measures a line out.
const readline = require("node:readline");
const ceil = (n) => Math.ceil(n / 4);
const json = (value) => JSON.stringify(value);
const block = (b, wrapped) => {
  if (b.type === "text" || b.type === "reasoning") return ceil(b.text.length) + 4;
  if (b.type === "tool-call") return ceil(b.name.length) + ceil(b.arguments.length) + 4;
  if (b.type === "tool-result" && wrapped) return b.content.reduce((sum, inner) => sum + block(inner, true), 0) + 4;
  if (b.type === "image") {
    const { offloaded, ...rest } = b;
    return 4 + ceil(json(rest).length);
  }
  return 4 + ceil(json(b).length);
};
const system = (blocks) => {
  if (!blocks.length) return 0;
  return ceil(blocks.reduce((sum, b) => sum + (b.type === "text" ? b.text.length : json(b).length), 0)) + 4;
};
const price = (fn) => { try { const n = fn(); return Number.isFinite(n) ? n : null; } catch { return null; } };
readline.createInterface({ input: process.stdin, terminal: false }).on("line", (line) => {
  const { kind, value } = JSON.parse(line);
  let out;
  if (kind === "json") out = [json(value), json(value).length];
  else if (kind === "text") out = value.length;
  else if (kind === "system") out = price(() => system(value));
  else if (kind === "tools") out = value && value.length ? ceil(json(value).length) + 4 : 0;
  else out = price(() => value.reduce((sum, b) => sum + block(b, kind === "wrapped"), 0) + 4);
  process.stdout.write(JSON.stringify(out) + "\n");
});
