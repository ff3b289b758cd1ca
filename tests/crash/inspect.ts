import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LedgerLine } from "../../src/generated/ledger.js";
import type { Insight, Paper, Rrd } from "../../src/generated/rrd.js";
import { parseLedger } from "../../src/store/ledger.js";
import { parseRrd } from "../../src/store/rrd-file.js";
import { answers, idOf, numbers } from "./answers.js";
import type { World } from "./world.js";

const paperIds = numbers.map(idOf);

/**
 * What is wrong in the research's files, a sentence each. Iterations up to `settled` must stand whole and once; the one after
 * may be under way and torn, as nobody has started again since. `records` false: rrd.json is somebody else's at the moment.
 */
export function faultsIn({ folder }: World, settled: number, records = true): string[] {
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const faults: string[] = [];
  const expectOnce = (what: string, found: readonly number[], wanted: readonly number[]) => {
    for (const number of wanted) {
      const times = found.filter((each) => each === number).length;
      if (times !== 1) faults.push(`${what} of iteration ${number} stands ${times} times`);
    }
    for (const number of new Set(found)) {
      if (found.indexOf(number) !== found.lastIndexOf(number)) faults.push(`${what} of iteration ${number} stands twice`);
      if (number > settled + 1) faults.push(`${what} of iteration ${number} is there before iteration ${settled + 1}`);
    }
  };

  if (settled === 0) return faults;
  const { lines, notices } = parseLedger(read("ledger.jsonl"), "ledger.jsonl");
  faults.push(...notices);
  const all = Array.from({ length: settled }, (_, index) => index + 1);
  expectOnce(
    "the ledger line",
    lines.map(({ iteration }) => iteration),
    all,
  );
  const accepted = lines.filter(({ outcome, iteration }) => outcome === "accepted" && iteration <= settled);
  const log = read("progress.txt");
  expectOnce(
    "the progress entry",
    Array.from(log.matchAll(/^Iteration: (\d+)$/gm), ([, number]) => Number(number)),
    accepted.map(({ iteration }) => iteration),
  );
  const entries = log.split(/^---\n\n/m).slice(1);
  const torn = entries.slice(0, accepted.length).filter((entry) => !/^## .*\n[\s\S]*\nIteration: \d+\n\n$/.test(entry));
  faults.push(...torn.map((entry) => `a progress entry is not whole: ${JSON.stringify(entry.slice(0, 80))}`));
  if (records) faults.push(...faultsInRecords(read("rrd.json"), accepted));
  return faults;
}

function faultsInRecords(text: string, accepted: readonly LedgerLine[]): string[] {
  const { ok: rrd, problems = [] } = parseRrd(text, "rrd.json");
  if (rrd === undefined) return problems.map(({ pointer, message }) => `rrd.json is broken: ${pointer} ${message}`);
  const units = accepted.map(({ unit }) => unit);
  const found = units.filter((unit) => unit.startsWith("discovery-")).flatMap((unit) => (answers[unit] as { papers: { id: string }[] }).papers);
  return [
    ...(JSON.stringify(rrd["custom"]) === '{"kept":"a field that nobody knows"}' ? [] : ["the unknown field is gone"]),
    ...found.filter(({ id }) => rrd.papers_pool.every((paper) => paper.id !== id)).map(({ id }) => `${id} was found and is not in the pool`),
    ...units.filter((unit) => paperIds.includes(unit)).flatMap((unit) => faultsInPaper(rrd, unit)),
  ];
}

/** An accepted paper has its decision and its insights, each once, as its reading says. */
function faultsInPaper(rrd: Rrd, id: string): string[] {
  const records = rrd.papers_pool.filter((paper) => paper.id === id);
  const insights = (rrd.insights ?? []).filter((insight) => insight.paper_id === id);
  const read = answers[id] as { notes: string; insights: { insight: string }[] };
  const [paper] = records;
  const isDone = paper?.decision != null && paper.score != null && paper.analysis != null && paper.status !== "pending";
  const same = JSON.stringify(insights.map(({ insight }) => insight)) === JSON.stringify(read.insights.map(({ insight }) => insight));
  return [
    ...(records.length === 1 ? [] : [`${id} stands ${records.length} times in the pool`]),
    ...(isDone ? [] : [`${id} is accepted and its record is ${paper?.status ?? "gone"}`]),
    ...(same ? [] : [`${id} has ${insights.length} insights, not those of its reading`]),
  ];
}

const published = ["rrd.json", "progress.txt", "ledger.jsonl", "research-report.md", "references.bib", "product-ideas.json"];

/** Every file that people see, and the names of all others, without what differs from run to run: times and where the world lies. */
export function finalState({ root, folder }: World): Record<string, string> {
  const files = Object.fromEntries(published.map((name) => [name, timeless(readFileSync(join(folder, name), "utf8").replaceAll(root, "ROOT"))]));
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
    .toSorted();
  return { ...files, names: names.join("\n") };
}

const timeless = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "TIME")
    .replaceAll(/\d{4}-\d\d-\d\d/g, "DAY")
    .replaceAll(/"(duration_seconds|avg_seconds_per_paper)": ?[\d.]+/g, '"$1":0');

/**
 * The results alone. An old copy of rrd.json that somebody saved may bring units back that the folder has had already, so
 * iterations, their order and what each cost differ then; what was found, read, decided and learned must not.
 */
export function results({ root, folder }: World): unknown {
  const rrd = JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8").replaceAll(root, "ROOT")) as Rrd;
  const withoutHistory = ({ iteration: _, refusals: __, ...paper }: Paper) => paper;
  const insight = ({ id: _, ...rest }: Insight) => rest;
  return {
    phase: rrd.phase,
    custom: rrd["custom"],
    papers: rrd.papers_pool.map(withoutHistory).toSorted((a, b) => a.id.localeCompare(b.id)),
    insights: (rrd.insights ?? []).map(insight).toSorted((a, b) => (a.paper_id ?? "").localeCompare(b.paper_id ?? "")),
    total: rrd.statistics?.total_analyzed,
  };
}

/** What a finished research must not leave behind. */
export function leftovers({ folder, root }: World): string[] {
  const hidden = readdirSync(join(folder, ".ralph"));
  const journal = readdirSync(join(folder, ".ralph", "journal")).filter((name) => name !== "done");
  const temporary = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ralph-tmp"));
  const workspaces = readdirSync(join(root, "state"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith("result.json"));
  return [...hidden.filter((name) => name.startsWith("lock")), ...journal, ...temporary, ...workspaces];
}
