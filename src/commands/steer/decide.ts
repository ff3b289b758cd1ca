import { resolve } from "node:path";
import { type ConfigFlags, configToRead } from "../../compose/config.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { findResearch, nameFor } from "../../research/overview/find-research.js";
import { readResearch } from "../../research/project-files/research.js";
import { type EligibilityDecision, recordDecisions } from "../../research/overview/record-decisions.js";
import { updateReport } from "../../research/report/documents/show-in-report.js";
import { allRecords } from "../../research/overview/all-records.js";
import { withKeys } from "../../research/papers/paper-keys.js";
import { delimiterOf } from "../../research/papers/records/csv.js";
import { readKeptSearch } from "../../research/workflow/steering/kept-search.js";
import { recordsNamed } from "../../research/overview/which-record.js";
import { requirePerson } from "./require-person.js";

interface DecideArguments {
  /** The project, which may be left out where there is one; papers, the decision and the reason, or a CSV file. */
  readonly words: readonly string[];
  /** Id of the criterion that excludes the papers. */
  readonly criterion?: string;
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

/** So many lines tell what became of each paper; more are counted. */
const maxShown = 100;

/** Writes a person's decisions on the eligibility of papers, which beat the criteria; the report shows them. */
export async function decideCommand({ words, criterion, flags, json }: DecideArguments, io: Io): Promise<number> {
  requirePerson(io.env);
  const { folder, rest } = await projectFirst(io.cwd, words);
  const said = await decisionsIn(folder, rest, criterion, io.cwd);
  if (said.length === 0) {
    if (json) io.stdout(`${JSON.stringify({ folder, decisions: [] })}\n`);
    else say(io, "Nothing is decided: every row says what the project says already, or nothing.");
    return 0;
  }
  const { git, stateDir } = await configToRead(io, flags, ["state_dir"]);
  const notify = (_: string, message: string) => say(io, message);
  const where = nameFor(io.cwd, folder);
  const decided = await recordDecisions(folder, said, { where, now: io.clock.now(), stateDir, git, notify });
  await updateReport(folder, { git, stateDir, now: io.clock.now, notify: (message) => say(io, message) });
  if (json) {
    const results = decided.map(({ says: _, next: __, ...one }, index) => {
      const { decision = "", criterion: by } = said[index] ?? {};
      return { folder, ...one, decision, ...withoutUndefined({ criterion: by }) };
    });
    io.stdout(`${JSON.stringify(results.length === 1 ? results[0] : { folder, decisions: results })}\n`);
    return 0;
  }
  for (const { says } of decided.slice(0, maxShown)) io.stdout(`${says}\n`);
  if (decided.length > maxShown) io.stdout(`… and ${decided.length - maxShown} more.\n`);
  const next = decided.find((one) => one.next !== undefined)?.next;
  if (next !== undefined) say(io, next);
  return 0;
}

/** The project that the first word names; where it names none, the only one there is, and every word is of the rest. */
async function projectFirst(
  cwd: string,
  words: readonly string[],
): Promise<{ readonly folder: string; readonly rest: readonly string[] }> {
  const [first = "", ...rest] = words;
  const named = await findResearch(cwd, first).catch((error: unknown) => error);
  if (typeof named === "string") return { folder: named, rest };
  const only = await findResearch(cwd, undefined).catch(() => undefined);
  const isMeant = async (folder: string) =>
    isTable(words) || recordsNamed((await readResearch(folder)).rrd, first).length > 0;
  if (only !== undefined && (await isMeant(only))) return { folder: only, rest: words };
  throw named;
}

/** Whether a file of decisions is all that was typed. */
const isTable = (words: readonly string[]): boolean => words.length === 1 && /\.(?:csv|tsv)$/i.test(words[0] ?? "");

/**
 * What was typed: papers, then include or exclude, then the reason, which a criterion may replace; or the rows of a CSV
 * file.
 */
async function decisionsIn(
  folder: string,
  words: readonly string[],
  criterion: string | undefined,
  cwd: string,
): Promise<readonly EligibilityDecision[]> {
  const [first = ""] = words;
  if (criterion !== undefined && (isTable(words) || !words.slice(-2).includes("exclude")))
    throw new ExpectedError("--criterion goes with papers and 'exclude'; a CSV file has a column criterion.", 2);
  if (isTable(words)) {
    const said = await decisionsOfTable(await readRegularText(resolve(cwd, first)), first);
    return said.some(({ decision }) => decision in exportedWords) ? changedIn(folder, said) : said;
  }
  const isWithoutReason = criterion !== undefined && words.at(-1) === "exclude";
  const [papers, [decision, why = ""]] = isWithoutReason
    ? [words.slice(0, -1), words.slice(-1)]
    : [words.slice(0, -2), words.slice(-2)];
  if (papers.length === 0 || decision === undefined)
    throw new ExpectedError(
      'Name papers, the decision and the reason, as in research-ralph decide <project> lo2020 ng2021 exclude "no control group"; or a CSV file of decisions.',
      2,
    );
  return papers.map((paper) => ({ paper, decision, why, ...withoutUndefined({ criterion }) }));
}

/** How columns of decisions are called. */
const columns = {
  paper: ["id", "key", "paper"],
  decision: ["decision"],
  why: ["why", "reason", "notes"],
  criterion: ["criterion"],
} as const;

/** The words of an export's column `decision`, with the decision that each is if a person writes it. */
const exportedWords: Readonly<Record<string, string>> = { included: "include", excluded: "exclude", open: "" };

/** The decisions of an exported table that a person changed. The other rows say what the project says. */
async function changedIn(
  folder: string,
  said: readonly EligibilityDecision[],
): Promise<readonly EligibilityDecision[]> {
  const { rrd } = await readResearch(folder);
  const records = allRecords(withKeys(rrd), [], await readKeptSearch(folder, rrd));
  const present = new Map(records.flatMap(({ id, key, outcome }) => [id, key].map((name) => [name, outcome.decision])));
  return said
    .filter(({ paper, decision }) => decision !== "open" && present.get(paper) !== decision)
    .map((one) => ({ ...one, decision: exportedWords[one.decision] ?? one.decision }));
}

/** The rows of a table with the columns id (or key), decision, why and, if there is one, criterion. */
async function decisionsOfTable(text: string, name: string): Promise<readonly EligibilityDecision[]> {
  const { parse } = await import("csv-parse/sync");
  let rows: Record<string, string>[];
  try {
    const head = (names: string[]) => names.map((each) => each.trim().toLowerCase());
    const [headLine = ""] = text.trimStart().split(/\r\n|\n|\r/, 1);
    const delimiter = delimiterOf(headLine);
    rows = parse(text, { bom: true, columns: head, skip_empty_lines: true, delimiter, trim: true });
  } catch (error) {
    throw new ExpectedError(`${name} can't be read as CSV: ${(error as Error).message}.`, 2);
  }
  const [first] = rows;
  const column = (field: keyof typeof columns) => columns[field].find((each) => first !== undefined && each in first);
  const [paper, decision, why, criterion] = [column("paper"), column("decision"), column("why"), column("criterion")];
  if (paper === undefined || decision === undefined || why === undefined)
    throw new ExpectedError(
      `${name} must have a head and rows with the columns id (or key), decision (include, exclude or not-retrieved) and why.`,
      2,
    );
  // A row without a decision is one that nobody has decided yet.
  return rows
    .filter((row) => (row[decision] ?? "") !== "")
    .map((row) => ({
      paper: row[paper] ?? "",
      decision: (row[decision] ?? "").toLowerCase(),
      why: row[why] ?? "",
      // An export has the id of the criterion with its text: "c2 (exclude: animal studies)".
      ...(criterion === undefined || !row[criterion] || !/^exclude/i.test(row[decision] ?? "")
        ? {}
        : { criterion: row[criterion].split(" (", 1)[0] ?? "" }),
    }));
}
