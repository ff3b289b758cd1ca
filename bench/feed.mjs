// Reads 30,000 arXiv entries in slices of 2,000, as the client does or with the bare XML parser, and prints what it
// took as JSON.
import { load } from "../scripts/bundle.mjs";

const slices = 15;
const entries = 2_000;

function slice(number) {
  const sentence =
    "We study how a robot hand learns to grasp objects that it has never felt before, in simulation and on the machine. ";
  const entry = (index) => {
    const id = `24${String(number + 10).slice(-2)}.${String(index).padStart(5, "0")}v1`;
    return `<entry><id>http://arxiv.org/abs/${id}</id><title>Learning to grasp, part ${index}</title><updated>2024-05-02T09:00:00Z</updated><link href="https://arxiv.org/abs/${id}" rel="alternate" type="text/html"/><link href="https://arxiv.org/pdf/${id}" rel="related" type="application/pdf" title="pdf"/><summary>${sentence.repeat(11)}</summary><category term="cs.RO" scheme="http://arxiv.org/schemas/atom"/><published>2024-01-31T09:00:00Z</published><arxiv:comment>12 pages, 4 figures</arxiv:comment><arxiv:primary_category term="cs.RO"/>${"<author><name>Ann B. Lee</name></author>".repeat(5)}</entry>`;
  };
  const all = Array.from({ length: entries }, (_, index) => entry(index)).join("\n");
  return `<?xml version='1.0' encoding='UTF-8'?>\n<feed xmlns="http://www.w3.org/2005/Atom"><opensearch:totalResults>30000</opensearch:totalResults>\n${all}</feed>`;
}

async function reader(kind) {
  if (kind === "ours") {
    const { arxiv } = await load({ arxiv: "src/research/sources/clients/arxiv.ts" });
    return async (xml) => (await arxiv.readArxivFeed(xml)).value.records;
  }
  const { XMLParser } = await import("fast-xml-parser");
  const parser = new XMLParser({ ignoreAttributes: true, parseTagValue: false });
  return async (xml) => parser.parse(xml).feed.entry;
}

const read = await reader(process.argv[2]);
const kept = [];
let took = 0;
for (let number = 0; number < slices; number++) {
  const xml = slice(number);
  const started = process.cpuUsage();
  kept.push(...(await read(xml)));
  // Processor time: the machine may have other work.
  const { user, system } = process.cpuUsage(started);
  took += (user + system) / 1000;
}
console.log(JSON.stringify({ took, count: kept.length, megabytes: process.resourceUsage().maxRSS / 1000 }));
