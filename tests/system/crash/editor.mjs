// A person's editor: it opens rrd.json, and some time later saves what it had read, in place or by a rename, over whatever
// stands there by then. Says each save on stdout; ends, between two saves, when its stdin is closed.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const [path, seed] = process.argv.slice(2);
let state = Number(seed);
const random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
let open = true;
process.stdin.on("data", () => {}).on("end", () => (open = false));

while (open) {
  await sleep(random() * 300);
  const text = readFileSync(path, "utf8");
  await sleep(random() * 1500);
  if (!open) break;
  const inPlace = random() < 0.5;
  if (inPlace) writeFileSync(path, text);
  else {
    writeFileSync(`${path}.swp`, text);
    renameSync(`${path}.swp`, path);
  }
  process.stdout.write(`${inPlace ? "in place" : "by rename"}\n`);
}
