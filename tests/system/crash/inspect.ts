import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Insight, Paper, Rrd } from "../../../src/research/generated/rrd.js";
import { parseLedger } from "../../../src/engine/storage/state/ledger.js";
import { parseRrd } from "../../../src/research/project-files/rrd-file.js";
import { answers } from "./answers.js";
import type { World } from "./world.js";

/**
 * What is wrong in the research's files, a sentence each. Iterations of `settled` must stand whole and once; others may
 * be under way and torn, as nobody has started again since, one at a time or `jobs` side by side. Records are looked at
 * where `usual`, what they come to in the end, is given: rrd.json may be somebody else's at the moment.
 */
export function faultsIn({ folder, jobs }: World, settled: ReadonlySet<number>, usual?: Results): string[] {
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const faults: string[] = [];
  const expectOnce = (what: string, found: readonly number[], wanted: readonly number[]) => {
    for (const number of wanted) {
      const times = found.filter((each) => each === number).length;
      if (times !== 1) faults.push(`${what} of iteration ${number} stands ${times} times`);
    }
    for (const number of new Set(found)) {
      if (found.indexOf(number) !== found.lastIndexOf(number))
        faults.push(`${what} of iteration ${number} stands twice`);
      if (jobs === 1 && number > settled.size + 1)
        faults.push(`${what} of iteration ${number} is there before iteration ${settled.size + 1}`);
    }
  };

  if (settled.size === 0) return faults;
  const { lines, notices } = parseLedger(read("ledger.jsonl"), "ledger.jsonl");
  faults.push(...notices);
  const all = [...settled];
  expectOnce(
    "the ledger line",
    lines.map(({ iteration }) => iteration),
    all,
  );
  const accepted = lines.filter(({ outcome, iteration }) => outcome === "accepted" && settled.has(iteration));
  const log = read("progress.txt");
  expectOnce(
    "the progress entry",
    Array.from(log.matchAll(/^Iteration: (\d+)$/gm), ([, number]) => Number(number)),
    accepted.map(({ iteration }) => iteration),
  );
  const entries = log.split(/^---\n\n/m).slice(1);
  const torn = entries.slice(0, accepted.length).filter((entry) => !/^## .*\n[\s\S]*\nIteration: \d+\n\n$/.test(entry));
  faults.push(...torn.map((entry) => `a progress entry is not whole: ${JSON.stringify(entry.slice(0, 80))}`));
  if (usual !== undefined) faults.push(...faultsInRecords(read("rrd.json"), accepted, usual));
  return faults;
}

function faultsInRecords(text: string, accepted: readonly LedgerLine[], usual: Results): string[] {
  const { ok: rrd, problems = [] } = parseRrd(text, "rrd.json");
  if (rrd === undefined) return problems.map(({ pointer, message }) => `rrd.json is broken: ${pointer} ${message}`);
  const units = accepted.map(({ unit }) => unit);
  const found = units
    .filter((unit) => unit.startsWith("discovery-"))
    .flatMap((unit) => (answers[unit] as { papers: { id: string }[] }).papers);
  return [
    ...(JSON.stringify(rrd["custom"]) === '{"kept":"a field that nobody knows"}' ? [] : ["the unknown field is gone"]),
    ...found
      .filter(({ id }) => rrd.papers_pool.every((paper) => paper.id !== id))
      .map(({ id }) => `${id} was found and is not in the pool`),
    ...usual.papers.filter(({ id }) => units.includes(id)).flatMap(({ id }) => faultsInPaper(rrd, id, usual)),
  ];
}

/** An accepted paper has its decision and its insights, each once, as in the end. */
function faultsInPaper(rrd: Rrd, id: string, usual: Results): string[] {
  const records = rrd.papers_pool.filter((paper) => paper.id === id);
  const [paper] = records;
  const insightsOf = (all: readonly Insight[] | null | undefined) =>
    JSON.stringify((all ?? []).filter((each) => each.paper_id === id).map(({ insight }) => insight));
  const isDone = paper?.decision != null && paper.score != null && paper.analysis != null && paper.status !== "pending";
  return [
    ...(records.length === 1 ? [] : [`${id} stands ${records.length} times in the pool`]),
    ...(isDone ? [] : [`${id} is accepted and its record is ${paper?.status ?? "gone"}`]),
    ...(insightsOf(rrd.insights) === insightsOf(usual.insights)
      ? []
      : [`${id} has the insights ${insightsOf(rrd.insights)}, not those of its reading`]),
  ];
}

const published = [
  "rrd.json",
  "progress.txt",
  "ledger.jsonl",
  "research-report.md",
  "references.bib",
  "product-ideas.json",
];

/**
 * Every file that people see, and the names of all others, without what differs from run to run: times and where the
 * world lies.
 */
export function finalState({ root, folder }: World): Record<string, string> {
  const files = Object.fromEntries(
    published.map((name) => [name, timeless(readFileSync(join(folder, name), "utf8").replaceAll(root, "ROOT"))]),
  );
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
    .toSorted();
  return { ...files, "rrd.json": withoutHistory(files["rrd.json"] ?? ""), names: names.join("\n") };
}

/** Its summary is made between two iterations, after a kill one later, and counts how long they took. */
export function withoutHistory(text: string): string {
  const rrd = JSON.parse(text) as Rrd;
  const { history_summary: _, rch_metrics: __, ...loop } = rrd.loop ?? {};
  return JSON.stringify({ ...rrd, loop }, null, 2);
}

export const timeless = (text: string): string =>
  text
    // Also in the name of a backup, which has hyphens for colons.
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d\.\d{3}Z/g, "TIME")
    .replaceAll(/\d{4}-\d\d-\d\d/g, "DAY")
    // Of the report: "1m 5s of agent time".
    .replaceAll(/(?:under |<|&lt;)?\b\d+(?:h \d+m|m \d+s|s)\b/g, "SPAN")
    // A brief tells how long papers took: its tokens follow from the length of that.
    .replaceAll(/"(duration_seconds|prepare_seconds|avg_seconds_per_paper|brief_tokens)": ?[\d.]+/g, '"$1":0');

/** What was found, read, decided and learned. */
export interface Results {
  readonly phase: string;
  readonly custom: unknown;
  /** Without iterations and refusals. */
  readonly papers: readonly Paper[];
  /** Without ids, which are numbers in the order of reading. */
  readonly insights: readonly Insight[];
}

/**
 * The results alone. An old copy of rrd.json that somebody saved may bring units back that the folder has had already,
 * so iterations, their order and what each cost differ then; the results must not.
 */
export function results({ root, folder }: World): Results {
  const rrd = JSON.parse(timeless(readFileSync(join(folder, "rrd.json"), "utf8").replaceAll(root, "ROOT"))) as Rrd;
  const withoutIterations = ({ iteration: _, refusals: __, ...paper }: Paper): Paper => paper as Paper;
  const withoutNumber = ({ id: _, ...insight }: Insight): Insight => insight as Insight;
  return {
    phase: rrd.phase,
    custom: rrd["custom"],
    papers: rrd.papers_pool.map(withoutIterations).toSorted((a, b) => a.id.localeCompare(b.id)),
    insights: (rrd.insights ?? [])
      .map(withoutNumber)
      .toSorted((a, b) => (a.paper_id ?? "").localeCompare(b.paper_id ?? "")),
  };
}

/** What a finished research must not leave behind. */
export function leftovers({ folder, root }: World): string[] {
  const hidden = readdirSync(join(folder, ".ralph"));
  const journal = readdirSync(join(folder, ".ralph", "journal")).filter((name) => name !== "done");
  const temporary = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ralph-tmp"),
  );
  const workspaces = readdirSync(join(root, "state"), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith("result.json"),
  );
  return [...hidden.filter((name) => name.startsWith("lock")), ...journal, ...temporary, ...workspaces];
}
