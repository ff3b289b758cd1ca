// What it takes from a file of a database to the first screening brief: read, merge, rank, write the brief.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "../../../scripts/bundle.mjs";

const count = 1000;
const words = "pears herons kilns fog beams tides moss bells salt cranes reeds amber dunes ferns locks stones".split(
  " ",
);
const word = (number) => words[number % words.length];
const title = (number) =>
  `How ${word(number)} and ${word(Math.floor(number / 16))} change by night in ${word(Math.floor(number / 256) + number)} country ${number}`;
const abstract = (number) =>
  Array.from({ length: 180 }, (_, index) => word(number * 7 + index * 3 + (index % 5))).join(" ");
const record = (number) =>
  `TY  - JOUR\nTI  - ${title(number)}\nAU  - Sample, Ann${number}\nAU  - Example, Bo\nPY  - ${1990 + (number % 30)}\nJO  - Journal of Samples\nVL  - ${number % 40}\nSP  - ${number}\nDO  - 10.5555/${number}\nAB  - ${abstract(number)}\nER  - \n\n`;

export const row = {
  name: "import-records",
  what: `${count} records in RIS, every tenth twice: read, merged, ranked and the first screening batch made, CPU`,
  hold: "≤ 3 CPU s",
  command: "npm run bench -- import-records",
  async run() {
    const { session, batch } = await load({
      session: "src/research/units/screening/search-session.ts",
      batch: "src/research/units/screening/screening-batch.ts",
    });
    const root = mkdtempSync(join(tmpdir(), "rr-import-"));
    try {
      const numbers = Array.from({ length: count }, (_, index) => Math.floor(index / 1.1));
      writeFileSync(join(root, "all.ris"), numbers.map(record).join(""));
      const before = process.cpuUsage();
      const searched = session.scholarlySearch({
        ...{ folder: root, root, now: Date.now, signal: new AbortController().signal, replay: async () => [] },
        contextFor: () => ({ http: undefined, endpoint: "" }),
        ...{ onReport: () => undefined, onProgress: () => undefined },
      });
      const rrd = {
        ...{ project: "bench", phase: "DISCOVERY", papers_pool: [] },
        requirements: { keywords: ["herons by night"], sources: ["all.ris"], target_papers: count },
      };
      const made = await batch.nextBatch(rrd, { serves: () => false, candidates: async () => [], ...searched });
      const { user, system } = process.cpuUsage(before);
      return {
        ours: `${((user + system) / 1e6).toFixed(2)} CPU s; ${made.search.works} works, ${made.candidates.length} in the first batch`,
      };
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  },
};
