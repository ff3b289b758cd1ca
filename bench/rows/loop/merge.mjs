import { load } from "../../../scripts/bundle.mjs";
import { ms, size, thousands } from "../../measure.mjs";

const count = size(100_000, 1_000);

export const row = {
  name: "merge",
  what: "putting 100,000 records of some 60,000 works together",
  hold: "≤ 150 × a Map over the same DOIs and titles",
  command: "mergeRecords(records)",
  async run() {
    const { merge } = await load({ merge: "src/research/papers/dedup/merge-records.ts" });
    const records = invent();
    const began = performance.now();
    const map = new Map();
    for (const record of records) map.set(record.identifiers.doi, record).set(record.title.toLowerCase(), record);
    const between = performance.now();
    const { works } = merge.mergeRecords(records, []);
    const ended = performance.now();
    const [bare, ours] = [between - began, ended - between];
    return { bare: ms(bare), ours: `${ms(ours)} (${Math.round(ours / bare)} ×), ${thousands(works.length)} works` };
  },
};

/** Two of five records are another source's word on an earlier one: by its DOI, its arXiv id, or its title alone. */
function invent() {
  let seed = 1;
  const random = () => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  const words = Array.from({ length: 5_000 }, () =>
    Array.from({ length: 3 + Math.floor(random() * 7) }, () => String.fromCharCode(97 + random() * 26)).join(""),
  );
  const word = () => words[Math.floor(random() ** 2 * words.length)];
  const records = [];
  for (let index = 0; index < count; index++) {
    const twin = index > 0 && random() < 0.4 ? records[Math.floor(random() * records.length)] : undefined;
    if (twin !== undefined) {
      const how = Math.floor(random() * 3);
      const identifiers = {
        s2: String(index),
        ...(how === 0 ? { doi: twin.identifiers.doi } : how === 1 ? { arxiv: twin.identifiers.arxiv } : {}),
      };
      records.push({
        ...twin,
        id: `s2_${index}`,
        source: "Semantic Scholar",
        identifiers,
        title: how === 2 ? twin.title.toUpperCase() : twin.title,
      });
      continue;
    }
    records.push({
      id: `doi_10.1000_${index}`,
      title: Array.from({ length: 6 + Math.floor(random() * 8) }, word).join(" "),
      url: `https://doi.org/10.1000/${index}`,
      pdf_url: null,
      authors: Array.from({ length: 3 }, () => `${word()} ${word()}`),
      date: String(2000 + Math.floor(random() * 25)),
      source: "Crossref",
      abstract: null,
      identifiers: {
        doi: `10.1000/${index}`,
        ...(random() < 0.3 ? { arxiv: `${2001 + (index % 24)}.${String(index).padStart(5, "0")}` } : {}),
      },
      venue: `Journal of ${word()}`,
    });
  }
  return records;
}
