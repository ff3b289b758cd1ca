// Fills in a form: what a sentence of the text says on friction, or nothing; each of it takes a while. Notes what it was asked.
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const brief = readFileSync(0, "utf8");
const { unit } = JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(brief)[1]);
appendFileSync(process.argv[2], `${unit}\n`);
await sleep(100);
const [quote] = /^[A-Z][^.\n]{20,}friction[^.\n]*\./m.exec(brief) ?? [];
const said =
  quote === undefined || unit.startsWith("extract-second-")
    ? { not_reported: true }
    : { value: quote, quotes: [quote] };
writeFileSync("result.json", JSON.stringify({ unit, fields: { "tendon-friction": said } }));
