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
import { shortDuration, quantity } from "../../engine/lib/words.js";
import { progressBar, say } from "../../engine/ui/terminal/format.js";
import { type Column, tableLines } from "../../engine/ui/terminal/table.js";
import type { Io } from "../../engine/ui/io.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { progressOf } from "../../research/derived/status.js";
import { countingInsights, isIneligible } from "../../research/screening/eligibility/eligibility.js";
import { timeSpent } from "../../research/workflow/timing.js";
import { researchesName, rrdFile, rrdName } from "../../research/project-files/layout.js";
import { type FoundWork, listWork, standingOf } from "../kinds/find-work.js";
import type { Kind } from "../kinds/kind.js";

/** A project or a task in the list. */
type ListedWork = ReadableWork | UnreadableWork;

interface ReadableWork {
  readonly kind: Kind["noun"];
  readonly name: string;
  readonly folder: string;
  /** The title. */
  readonly project?: string;
  readonly task?: string;
  readonly phase: string;
  /**
   * For a project: papers with a decision, and all papers that it needs. For a task: criteria that are met, and all.
   */
  readonly done: number;
  readonly total: number;
  readonly presented?: number;
  readonly insights?: number;
  /** Seconds that agents worked on it; null if nothing was recorded. */
  readonly seconds: number | null;
  /** Set if a later version wrote it. Then the row may be incomplete. */
  readonly later_format?: true;
}

interface UnreadableWork {
  readonly kind: Kind["noun"];
  readonly name: string;
  readonly folder: string;
  /** Why it can't be read. */
  readonly broken: string;
}

type ProjectRow = Omit<ReadableWork, "kind"> | Omit<UnreadableWork, "kind">;

/**
 * Prints every project under ./researches and every task in the folder. Projects are parsed but not validated: 200
 * files of 180 KB must be listed without a delay.
 */
export async function listCommand({ json }: { readonly json: boolean }, io: Io): Promise<number> {
  const rows: ListedWork[] = [];
  for (const work of await listWork(io.cwd))
    rows.push(
      work.kind.noun === "project" ? { kind: "project", ...(await projectRow(work.folder)) } : await taskRow(work),
    );
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

/** The row of a task, which is named by its path. */
async function taskRow(work: FoundWork): Promise<ListedWork> {
  const { kind, folder, path } = work;
  const firstFields = { kind: kind.noun, name: path, folder };
  const standing = await standingOf(work);
  if (standing === undefined) return { ...firstFields, broken: "its files no longer exist" };
  const { problem, title = "", phase, isFinished, progress, spentMs } = standing;
  if (problem !== undefined) return { ...firstFields, broken: oneLine(problem) };
  const { done, total } = progress;
  const seconds = spentMs === undefined ? null : Math.round(spentMs / 1000);
  return { ...firstFields, task: title, phase: isFinished ? "COMPLETE" : phase, done, total, seconds };
}

async function projectRow(folder: string): Promise<ProjectRow> {
  const name = basename(folder);
  try {
    const path = rrdFile(folder);
    // Files are read one after the other and synchronously: promises for 200 files take 110 ms of processor time, which
    // is more than parsing takes.
    const stats = statSync(path);
    const { size } = stats;
    // Reading from a pipe could wait without end.
    if (!stats.isDirectory()) requireRegular(stats, rrdName);
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
    // Checks everything except the papers and insights, which are nearly all of the file.
    if (!isNewer(parsed) && !isValid("rrd", { ...rrd, papers_pool: [], insights: [] }))
      return { name, folder, broken: `rrd.json is not valid; 'research-ralph verify --files ${name}' says where` };
    const { done, total } = progressOf(rrd);
    const ledger = existsSync(ledgerFile(folder)) ? (await readLedger(folder)).lines : [];
    const spentMs = timeSpent(rrd, ledger);
    const presented = rrd.papers_pool.filter((paper) => paper.status === "presented").length;
    const [project, phase] = [rrd.project, rrd.phase].map((text) => oneLine(decodeUtf8(String(text))));
    const seconds = spentMs === undefined ? null : Math.round(spentMs / 1000);
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
      ? "rrd.json is missing; 'research-ralph status' names its last good version"
      : messageOf(explainSystemError(error, rrdName));
    return { name, folder, broken: oneLine(broken) };
  }
}

/** The number of insights that count, in a file that was not validated. */
function insightsOf({ papers_pool: papersPool, insights }: Rrd): number {
  if (!Array.isArray(insights)) return 0;
  const papers = papersPool.filter((paper) => typeof paper === "object" && paper !== null);
  if (!papers.some(isIneligible)) return insights.length;
  return countingInsights({ papers_pool: papers, insights: insights.map((insight) => insight ?? {}) }).length;
}

/**
 * Parses JSON without decoding UTF-8: characters outside ASCII are wrong until `decodeUtf8`, all others are right.
 * Decoding 36 MB takes 155 of 350 ms. If the bytes are not JSON, answers with a sentence like that of `validate`.
 */
function parseBytes(bytes: Buffer): Rrd | null | string {
  const bomLength = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const text = bytes.toString("latin1", bomLength);
  try {
    return JSON.parse(text) as Rrd | null;
  } catch {
    const { line, column, message } = locateSyntaxError(text);
    return `rrd.json:${line}:${column}: ${message}`;
  }
}

/**
 * The fields that a row needs, in the current format. Papers with equal fields are converted once: even a large pool
 * has only a few kinds.
 */
function outlineOf(rrd: Rrd): Rrd {
  const outlines = rrd.papers_pool.map((paper) => ({
    id: paper?.id === undefined ? undefined : "any",
    title: "",
    status: paper?.status,
    decision: paper?.decision,
    analysis: paper?.analysis && {},
  }));
  const outlineKeys = outlines.map((outline) => JSON.stringify(outline));
  const firstOfKind = new Map(outlineKeys.map((kind, index) => [kind, outlines[index]]));
  const current = readRrdShape({ ...rrd, papers_pool: [...firstOfKind.values()], insights: [] }).value as Rrd;
  const paperOfKind = new Map([...firstOfKind.keys()].map((kind, index) => [kind, current.papers_pool[index]]));
  return { ...current, papers_pool: outlineKeys.flatMap((kind) => paperOfKind.get(kind) ?? []) };
}

const decodeUtf8 = (text: string): string => Buffer.from(text, "latin1").toString("utf8");

/** The column KIND is shown only if there are projects and tasks. */
const columnsOf = (hasSeveralKinds: boolean): readonly Column[] => [
  { head: "NAME", cut: "before-date" },
  ...(hasSeveralKinds ? [{ head: "KIND", dropOrder: 4 }] : []),
  { head: "PHASE", dropOrder: 3 },
  { head: hasSeveralKinds ? "DONE" : "PAPERS" },
  { head: "INCLUDED", dropOrder: 1 },
  { head: "TIME", dropOrder: 2 },
];

function table(rows: readonly ListedWork[], columns: number): string[] {
  const hasSeveralKinds = rows.some(({ kind }) => kind !== "project");
  const cells = rows.map((row) =>
    "broken" in row
      ? [oneLine(row.name), `broken: ${row.broken}`]
      : [
          oneLine(row.name),
          ...(hasSeveralKinds ? [row.kind] : []),
          row.phase,
          `${progressBar(row.done, row.total, 10)} ${row.done}/${row.total}`,
          String(row.presented ?? "–"),
          row.seconds === null ? "–" : shortDuration(row.seconds * 1000),
        ],
  );
  return [
    ...tableLines(columnsOf(hasSeveralKinds), cells, columns - 1),
    "",
    `${countsText(rows)}${brokenNote(rows)}`,
    ...rows.flatMap((row) =>
      "later_format" in row
        ? [`${oneLine(row.name)} was written by a later version of research-ralph; this version can only read it.`]
        : [],
    ),
  ];
}

/** "2 projects", "1 project, 2 tasks". */
const countsText = (rows: readonly ListedWork[]): string =>
  [...new Set(rows.map(({ kind }) => kind))]
    .map((noun) => quantity(rows.filter(({ kind }) => kind === noun).length, noun))
    .join(", ");

function brokenNote(rows: readonly ListedWork[]): string {
  const broken = rows.filter((row) => "broken" in row).length;
  return broken === 0 ? "" : `, ${broken} broken: research-ralph verify --files <name> says why`;
}
