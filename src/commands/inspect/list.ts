import { existsSync, readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { Rrd } from "../../research/generated/rrd.js";
import { hasCode, messageOf } from "../../engine/lib/errors.js";
import { ledgerFile } from "../../engine/lib/layout.js";
import { locateSyntaxError, maxLevels, tooDeepAt } from "../../engine/storage/json-syntax.js";
import { requireRegular } from "../../engine/storage/regular-file.js";
import { explainSystemError } from "../../engine/storage/explain-system-error.js";
import { isValid } from "../../engine/storage/schema-check.js";
import { isNewer } from "../../engine/storage/state/format-version.js";
import { readLedger } from "../../engine/storage/state/ledger.js";
import { readRrdShape } from "../../research/project-files/legacy/read-rrd.js";
import { maxRrdBytes } from "../../research/project-files/rrd-file.js";
import { duration, many } from "../../engine/lib/words.js";
import { bar, say } from "../../engine/ui/terminal/format.js";
import { type Column, tableLines } from "../../engine/ui/terminal/table.js";
import type { Io } from "../../engine/ui/io.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { progressOf } from "../../research/derived/status.js";
import { countingInsights, isIneligible } from "../../research/screening/eligibility/eligibility.js";
import { timeSpent } from "../../research/overview/time-and-cost.js";
import { researchesName, rrdFile, rrdName } from "../../research/project-files/layout.js";
import { type FoundWork, listWork, lookAt } from "../kinds/find-work.js";
import type { Kind } from "../kinds/kind.js";

/** A project or a task of the list. */
type Row = Whole | Broken;

interface Whole {
  readonly kind: Kind["noun"];
  readonly name: string;
  readonly folder: string;
  /** What it is called in its own words. */
  readonly project?: string;
  readonly task?: string;
  readonly phase: string;
  /** Papers with a decision, of those the project will hold; of a task, criteria that are met. */
  readonly done: number;
  readonly total: number;
  readonly presented?: number;
  readonly insights?: number;
  /** Seconds that agents worked on it; null where nothing was recorded. */
  readonly seconds: number | null;
  /** Set where a later version wrote it, so that a row may say less than the project holds. */
  readonly later_format?: true;
}

interface Broken {
  readonly kind: Kind["noun"];
  readonly name: string;
  readonly folder: string;
  /** Why it can't be read. */
  readonly broken: string;
}

type OfProject = Omit<Whole, "kind"> | Omit<Broken, "kind">;

/**
 * Prints every project under ./researches and every task here. Projects are parsed, not validated: 200 of 180 KB have
 * to be there at once.
 */
export async function listCommand({ json }: { readonly json: boolean }, io: Io): Promise<number> {
  const rows: Row[] = [];
  for (const work of await listWork(io.cwd))
    rows.push(work.kind.noun === "project" ? { kind: "project", ...(await readRow(work.folder)) } : await rowOf(work));
  if (json) {
    io.stdout(`${JSON.stringify(rows, null, 2)}\n`);
    return 0;
  }
  if (rows.length === 0)
    say(
      io,
      `No project under ./${researchesName}, and no task; create a project with research-ralph new "<topic>", a task with research-ralph init --task.`,
    );
  else for (const line of table(rows, io.tableWidth)) io.stdout(`${line}\n`);
  return 0;
}

/** A row of what is named by its path. */
async function rowOf(work: FoundWork): Promise<Row> {
  const { kind, folder, where } = work;
  const head = { kind: kind.noun, name: where, folder };
  const standing = await lookAt(work);
  if (standing === undefined) return { ...head, broken: "it is gone" };
  const { broken, title = "", phase, finished, progress, spentMs } = standing;
  if (broken !== undefined) return { ...head, broken: oneLine(broken) };
  const { done, total } = progress;
  const seconds = spentMs === undefined ? null : Math.round(spentMs / 1000);
  return { ...head, task: title, phase: finished ? "COMPLETE" : phase, done, total, seconds };
}

async function readRow(folder: string): Promise<OfProject> {
  const name = basename(folder);
  try {
    const path = rrdFile(folder);
    // One after the other, and not by promises: those cost more processor time (110 ms for 200 files) than parsing
    // does.
    const found = statSync(path);
    const { size } = found;
    // Nobody would ever write into a pipe.
    if (!found.isDirectory()) requireRegular(found, rrdName);
    if (size > maxRrdBytes) return { name, folder, broken: `rrd.json has ${Math.round(size / 1_000_000)} MB` };
    const parsed = parseBytes(readFileSync(path));
    if (typeof parsed === "string") return { name, folder, broken: parsed };
    if (
      !Array.isArray(parsed?.papers_pool) ||
      typeof parsed.requirements !== "object" ||
      parsed.requirements === null
    ) {
      return { name, folder, broken: "rrd.json is not the state of a project" };
    }
    if (tooDeepAt({ ...parsed, papers_pool: [], insights: [] }) !== undefined)
      return { name, folder, broken: `rrd.json is nested deeper than ${maxLevels} levels` };
    const rrd = outlineOf(parsed);
    // All but the papers and insights, which are nearly all of a file.
    if (!isNewer(parsed) && !isValid("rrd", { ...rrd, papers_pool: [], insights: [] }))
      return { name, folder, broken: `rrd.json is not valid; 'research-ralph verify --files ${name}' says where` };
    const { done, total } = progressOf(rrd);
    const ledger = existsSync(ledgerFile(folder)) ? (await readLedger(folder)).lines : [];
    const spent = timeSpent(rrd, ledger);
    const presented = rrd.papers_pool.filter((paper) => paper.status === "presented").length;
    const [project, phase] = [rrd.project, rrd.phase].map((text) => oneLine(decode(String(text))));
    const seconds = spent === undefined ? null : Math.round(spent / 1000);
    return {
      name,
      folder,
      project: project ?? "",
      phase: phase ?? "",
      done,
      total,
      presented,
      insights: insightsOf(parsed),
      seconds,
      ...(isNewer(parsed) || ledger.some(isNewer) ? { later_format: true as const } : {}),
    };
  } catch (error) {
    const isGone = hasCode(error, "ENOENT");
    const broken = isGone
      ? "rrd.json is gone; 'research-ralph status' names its last good version"
      : messageOf(explainSystemError(error, rrdName));
    return { name, folder, broken: oneLine(broken) };
  }
}

/** The number of insights that count, of a file that nothing was checked of yet. */
function insightsOf({ papers_pool: pool, insights }: Rrd): number {
  if (!Array.isArray(insights)) return 0;
  const papers = pool.filter((paper) => typeof paper === "object" && paper !== null);
  if (!papers.some(isIneligible)) return insights.length;
  return countingInsights({ papers_pool: papers, insights: insights.map((insight) => insight ?? {}) }).length;
}

/**
 * JSON read byte for byte: letters outside ASCII come out wrong until `decode` puts them right, and nothing else does.
 * Decoding 36 MB of UTF-8 took as long as everything else together (155 of 350 ms). A sentence where it is not JSON, in
 * the words of `validate`.
 */
function parseBytes(bytes: Buffer): Rrd | null | string {
  const mark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const text = bytes.toString("latin1", mark);
  try {
    return JSON.parse(text) as Rrd | null;
  } catch {
    const { line, column, message } = locateSyntaxError(text);
    return `rrd.json:${line}:${column}: ${message}`;
  }
}

/**
 * What a row is made of, in today's shape. Papers that look alike in it are read once: a pool of any size has a handful
 * of kinds.
 */
function outlineOf(rrd: Rrd): Rrd {
  const outlines = rrd.papers_pool.map((paper) => ({
    id: paper?.id === undefined ? undefined : "any",
    title: "",
    status: paper?.status,
    decision: paper?.decision,
    analysis: paper?.analysis && {},
  }));
  const kinds = outlines.map((outline) => JSON.stringify(outline));
  const first = new Map(kinds.map((kind, at) => [kind, outlines[at]]));
  const read = readRrdShape({ ...rrd, papers_pool: [...first.values()], insights: [] }).value as Rrd;
  const readings = new Map([...first.keys()].map((kind, at) => [kind, read.papers_pool[at]]));
  return { ...read, papers_pool: kinds.flatMap((kind) => readings.get(kind) ?? []) };
}

const decode = (text: string): string => Buffer.from(text, "latin1").toString("utf8");

/** What tells projects and tasks apart stands there where there are both. */
const columnsOf = (isMixed: boolean): readonly Column[] => [
  { head: "NAME", cut: "before-date" },
  ...(isMixed ? [{ head: "KIND", drop: 4 }] : []),
  { head: "PHASE", drop: 3 },
  { head: isMixed ? "DONE" : "PAPERS" },
  { head: "PRESENTED", drop: 1 },
  { head: "TIME", drop: 2 },
];

function table(rows: readonly Row[], room: number): string[] {
  const isMixed = rows.some(({ kind }) => kind !== "project");
  const cells = rows.map((row) =>
    "broken" in row
      ? [oneLine(row.name), `broken: ${row.broken}`]
      : [
          oneLine(row.name),
          ...(isMixed ? [row.kind] : []),
          row.phase,
          `${bar(row.done, row.total, 10)} ${row.done}/${row.total}`,
          String(row.presented ?? "–"),
          row.seconds === null ? "–" : duration(row.seconds * 1000),
        ],
  );
  return [
    ...tableLines(columnsOf(isMixed), cells, room - 1),
    "",
    `${countsText(rows)}${brokenNote(rows)}`,
    ...rows.flatMap((row) =>
      "later_format" in row
        ? [`${oneLine(row.name)} was written by a later version of research-ralph and is only read.`]
        : [],
    ),
  ];
}

/** "2 projects", "1 project, 2 tasks". */
const countsText = (rows: readonly Row[]): string =>
  [...new Set(rows.map(({ kind }) => kind))]
    .map((noun) => many(rows.filter(({ kind }) => kind === noun).length, noun))
    .join(", ");

function brokenNote(rows: readonly Row[]): string {
  const broken = rows.filter((row) => "broken" in row).length;
  return broken === 0 ? "" : `, ${broken} broken: research-ralph verify --files <name> says why`;
}
