// What a question to a project costs before any agent starts: cutting and indexing its texts, and one search. `--data`
// names a folder with nxml/*.nxml, articles in JATS, which are repeated up to the sizes measured.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { load } from "../../scripts/bundle.mjs";
import { ms, thousands } from "../measure.mjs";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");

const sizes = [300, 3000];
const questions = 20;

export const row = {
  name: "ask",
  what: "a question to 300 and 3,000 papers: processor time of the index, its memory, one search, estimated tokens of the passages",
  hold: "≤ 1.5 s and ≤ 12 s; ≤ 100 MB at 3,000; ≤ 50 ms a search; ≤ 20,000 tokens",
  command: "npm run bench -- ask --data <folder>",
  async run({ data } = {}) {
    if (data === undefined) return { ours: "not measured: name a folder with --data" };
    const folder = join(data, "nxml");
    if (!existsSync(folder)) return { ours: `not measured: ${data} has no folder nxml` };
    const { pools, reader, tokens } = await load({
      pools: "src/research/overview/questions/pool.ts",
      reader: "src/engine/documents/jats/read-jats.ts",
      tokens: "src/engine/lib/tokens.ts",
    });
    const texts = [];
    for (const name of readdirSync(folder)) {
      const read = await reader.readJats(readFileSync(join(folder, name), "utf8"));
      const text = read.status === "ok" ? read.text : read;
      if (typeof text?.text === "string") texts.push(text);
    }
    const asked = texts.slice(0, questions).map(({ title = "" }) => title);
    const lines = [];
    for (const size of sizes) lines.push(await measure(size, texts, asked, pools, tokens.estimateTokens));
    return { ours: lines.join("<br>") };
  },
};

async function measure(size, texts, asked, { openPool, passagesFor, passageTokens }, estimateTokens) {
  const papers = Array.from({ length: size }, (_, index) => {
    const { title = "", abstract = "" } = texts[index % texts.length];
    return { id: `p${index}`, title, abstract, status: "presented" };
  });
  const rrd = { project: "p", requirements: {}, phase: "COMPLETE", papers_pool: papers };
  const read = async (_, { id }) => texts[Number(id.slice(1)) % texts.length];
  gc();
  const before = process.memoryUsage();
  const begun = process.cpuUsage();
  const pool = await openPool([{ folder: "/p", rrd }], read);
  const { user, system } = process.cpuUsage(begun);
  gc();
  const after = process.memoryUsage();
  const held = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
  const queries = asked.map((question) => pool.query(question));
  for (const query of queries) pool.search(query, 1000);
  const from = performance.now();
  for (const query of queries) pool.search(query, 1000);
  const each = (performance.now() - from) / queries.length;
  let most = 0;
  for (const query of queries) {
    const shown = await passagesFor(pool, query, passageTokens);
    const text = shown.map(({ key, locator, text: said }) => `@@ ${key} | ${locator}\n${said}`).join("\n\n");
    most = Math.max(most, estimateTokens(text));
  }
  return `${thousands(size)} papers, ${thousands(pool.passages.length)} passages: ${ms((user + system) / 1000)}, ${Math.round(held / 1e6)} MB; a search ${ms(each)}; ${thousands(most)} tokens at most`;
}
