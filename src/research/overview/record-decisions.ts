import { ExpectedError } from "../../engine/lib/errors.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { lockFile } from "../../engine/lib/layout.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import { earlierRecordsFile } from "../project-files/layout.js";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import { isHeldByRun } from "../../engine/storage/lock.js";
import {
  type DecisionMessage,
  isDecisionName,
  maxMessageChars,
  readMessages,
  removeMessage,
} from "../../engine/storage/state/steering-inbox.js";
import { criteriaOf } from "../project-files/eligibility-criteria.js";
import { exclusionBy } from "../screening/eligibility/eligibility.js";
import { editResearch } from "../project-files/edit-by-command.js";
import { readResearch } from "../project-files/research.js";
import { signState } from "../project-files/guarded/signed-state.js";
import type { Exclusion, Paper, Rrd } from "../generated/rrd.js";
import { namesIn, nameOf, withKeys } from "../papers/paper-keys.js";
import { editOrLeave, type LeaveOptions } from "./edit-or-leave.js";
import { allRecords } from "./all-records.js";
import { screeningText } from "./same-work.js";
import { recordNamed, recordsNamed } from "./which-record.js";
import { statusOf } from "../workflow/next-unit.js";
import { makeCompleter, readKeptSearch } from "../workflow/steering/kept-search.js";
import { isReversible, withOverride, withOverrides } from "../derived/overrides.js";
import { separatedTest } from "../derived/separated.js";
import { derive } from "../workflow/derive.js";

/** The user's decision on the eligibility of a paper. */
export interface EligibilityDecision {
  /** A paper or an excluded record, by a name that `recordNamed` accepts. */
  readonly paper: string;
  /** "include", "exclude" or "not-retrieved". */
  readonly decision: string;
  /** If absent or empty, the text of the criterion. */
  readonly why?: string;
  /** The id of the criterion that excludes the paper. */
  readonly criterion?: string;
}

/** The result of a decision. */
export interface DecisionResult {
  /** Its id. */
  readonly paper: string;
  /** The name of the paper for people. */
  readonly key: string;
  /** The stored reason. */
  readonly why: string;
  /** The paper's new status, or `excluded` for a record that is not in the pool. */
  readonly status: Paper["status"] | "excluded";
  /** False while a run works on the project; it applies the decision before its next iteration. */
  readonly applied: boolean;
  /** What happened to the paper, one sentence. */
  readonly says: string;
  /** How the report is updated, if there is one. */
  readonly next?: string;
}

interface DecideOptions extends LeaveOptions {
  /** The name of the project for the user. */
  readonly where: string;
}

/**
 * Stores decisions of the user on the eligibility of papers, which have priority over the criteria, all in one edit.
 * While a run holds the project, they are left for the run, which applies them before its next iteration.
 * @throws ExpectedError (exit code 2) without storing any: for an unknown decision, a reason that is missing
 * or too long, an unknown criterion or paper, including a retracted paper, and a duplicate.
 */
export async function recordDecisions(
  folder: string,
  decisions: readonly EligibilityDecision[],
  { where, now, stateDir, git, notify }: DecideOptions,
): Promise<readonly DecisionResult[]> {
  const before = await readResearch(folder);
  for (const { paper } of decisions)
    if (recordsNamed(before.rrd, paper).length === 0) await checkScreened(folder, before.rrd, paper, where);
  const messages = decisions.map((decision) => messageOf(before.rrd, decision, where));
  const at = new Date(now).toISOString();
  const includedIds = messages.filter(({ decision }) => decision !== "exclude").map(({ record }) => record);
  const complete = await makeCompleter(folder, before.rrd, new Set(includedIds));
  const change = (rrd: Rrd): Rrd =>
    withOverrides(
      messages.reduce(
        (current, { record, decision, why, criterion }) =>
          withOverride(current, record, { decision, why, ...withoutUndefined({ criterion }), at }),
        complete(rrd),
      ),
    );
  // Earlier decisions on these records that no run has applied yet must not be applied after this one.
  const records = messages.map(({ record }) => record);
  const editedRrd = await editOrLeave(folder, change, messages, { stateDir, now, git, notify }, () =>
    removePendingDecisions(folder, records),
  );
  await rememberRecords(folder, before.rrd, records);
  const [isRunning, after] = [editedRrd === undefined, editedRrd ?? change(before.rrd)];
  const hasCurrentReport = (rrd: Rrd) => statusOf(rrd, before.ledger).done.includes("report");
  const isReportOutdated = !isRunning && hasCurrentReport(before.rrd) && !hasCurrentReport(after);
  const names = namesIn(before.rrd);
  return messages.map(({ record, why }): DecisionResult => {
    const paper = after.papers_pool.find((candidate) => candidate.id === record);
    const when = isRunning ? " A run is under way and takes the decision before its next iteration." : "";
    return {
      paper: record,
      key: names.get(record) ?? record,
      why,
      status: paper?.status ?? "excluded",
      applied: !isRunning,
      says: `${oneLine(names.get(record) ?? record)} ${outcomeText(paper)}.${when}`,
      ...(isReportOutdated
        ? {
            next: `The report is older than this decision: research-ralph run ${shellWord(where)} ${paper?.status === "pending" ? "reads the paper and writes it" : "writes it"} again.`,
          }
        : {}),
    };
  });
}

/** The message to a run about a decision. @throws ExpectedError (exit code 2) if the decision is invalid. */
function messageOf(
  rrd: Rrd,
  { paper, decision: decisionWord, why: words = "", criterion }: EligibilityDecision,
  where: string,
): DecisionMessage {
  const decision = decisionWord.replace("-", "_");
  if (!isDecisionName(decision))
    throw new ExpectedError(
      `The decision is '${oneLine(decisionWord)}'; it must be include, exclude or not-retrieved.`,
      2,
    );
  const criteria = criteriaOf(rrd);
  const excludingCriterion = criteria.find(({ id }) => id === criterion);
  if (criterion !== undefined && excludingCriterion === undefined) {
    const criterionIds = criteria.length === 0 ? "none" : criteria.map(({ id }) => id).join(", ");
    throw new ExpectedError(`There is no criterion '${oneLine(criterion)}' in ${where}; it has ${criterionIds}.`, 2);
  }
  const why = words.trim() || (excludingCriterion === undefined ? "" : exclusionBy(excludingCriterion));
  if (why === "") throw new ExpectedError("The reason is empty; give it in quotes after the decision.", 2);
  if (why.length > maxMessageChars)
    throw new ExpectedError(`The reason has ${why.length} characters; at most ${maxMessageChars} are allowed.`, 2);
  const record = recordNamed(rrd, paper, where);
  checkPossible(rrd, record, decision, where);
  return { record: record.id, decision, why, ...withoutUndefined({ criterion }) };
}

/** Removes decisions on these records that no run has applied yet. Returns their number. */
async function removePendingDecisions(folder: string, records: readonly string[]): Promise<number> {
  const pending = (await readMessages(folder)).filter(
    (message) => "record" in message && records.includes(message.record),
  );
  for (const { id } of pending) await removeMessage(folder, id);
  return pending.length;
}

/**
 * Restores an earlier record, which undoes a decision on it. False if a run has applied the decision in
 * the meantime; then only another decision can change it.
 */
export async function undoDecision(
  folder: string,
  id: string,
  { paper: earlierPaper, exclusions: earlierExclusions }: EarlierRecord,
  { stateDir, git, notify }: Omit<DecideOptions, "where" | "now">,
): Promise<boolean> {
  if ((await removePendingDecisions(folder, [id])) > 0) return true;
  if (await isHeldByRun(lockFile(folder))) return false;
  const change = (rrd: Rrd): Rrd => {
    const pool =
      earlierPaper === undefined
        ? rrd.papers_pool.filter((paper) => paper.id !== id)
        : rrd.papers_pool.map((paper) => (paper.id === id ? earlierPaper : paper));
    const excluded = [...(rrd.excluded ?? []).filter((exclusion) => exclusion.id !== id), ...earlierExclusions];
    return {
      ...rrd,
      papers_pool: pool,
      ...(rrd.excluded === undefined && earlierExclusions.length === 0 ? {} : { excluded }),
    };
  };
  await editResearch(folder, change, { derive, git, notify });
  await signState(folder, stateDir);
  return true;
}

/** A paper's record before the user's last decision on it; without a paper, only its exclusions. */
interface EarlierRecord {
  readonly paper?: Paper;
  readonly exclusions: readonly Exclusion[];
}

/** Stores the records before a decision, so that the decision can be taken back. */
async function rememberRecords(folder: string, rrd: Rrd, ids: readonly string[]): Promise<void> {
  const earlierRecords = { ...(await readEarlierRecords(folder)) };
  for (const id of ids) earlierRecords[id] = recordIn(rrd, id);
  await writeFileAtomic(earlierRecordsFile(folder), `${JSON.stringify(earlierRecords)}\n`, { isDurable: false });
}

/** The paper and the exclusions with this id. */
export const recordIn = (rrd: Rrd, id: string): EarlierRecord => ({
  ...withoutUndefined({ paper: rrd.papers_pool.find((paper) => paper.id === id) }),
  exclusions: (rrd.excluded ?? []).filter((exclusion) => exclusion.id === id),
});

/** Empty if no decision was made here, or if the file is damaged. */
async function readEarlierRecords(folder: string): Promise<Readonly<Record<string, EarlierRecord>>> {
  try {
    return (JSON.parse(await readRegularText(earlierRecordsFile(folder))) ?? {}) as Record<string, EarlierRecord>;
  } catch {
    return {};
  }
}

/**
 * Takes back the user's last decision on a paper: its record is again what it was before. Returns a sentence about it.
 * @throws ExpectedError with exit code 2 if there is no decision, if the earlier record is not stored here, or if the
 * paper was read since; with exit code 6 while a run works on the project.
 */
export async function takeBackDecision(
  folder: string,
  paper: string,
  { where, ...options }: Omit<DecideOptions, "now">,
): Promise<string> {
  const { rrd } = await readResearch(folder);
  const { id } = recordNamed(rrd, paper, where);
  const name = oneLine(namesIn(rrd).get(id) ?? id);
  const present = recordIn(rrd, id);
  const earlier = (await readEarlierRecords(folder))[id];
  const isDecided = [present.paper, ...present.exclusions].some((record) => record?.override !== undefined);
  if (!isDecided && earlier === undefined)
    throw new ExpectedError(`No person has decided on ${name}, so there is nothing to take back.`, 2);
  if (earlier === undefined)
    throw new ExpectedError(
      `The record of ${name} before the decision is not stored on this machine; decide again, or let it be judged again: research-ralph reset ${shellWord(where)} --paper ${name}.`,
      2,
    );
  if (present.paper?.iteration !== earlier.paper?.iteration)
    throw new ExpectedError(`${name} was read after the decision, so only another decision changes it.`, 2);
  if (!(await undoDecision(folder, id, earlier, options)))
    throw new ExpectedError(`A run works on ${where}; take the decision back when it has ended.`, 6);
  const { [id]: _, ...otherRecords } = await readEarlierRecords(folder);
  await writeFileAtomic(earlierRecordsFile(folder), `${JSON.stringify(otherRecords)}\n`, { isDurable: false });
  return `The decision on ${name} is taken back.`;
}

/** The effect of the decision on the paper. */
function outcomeText(paper: Paper | undefined): string {
  if (paper === undefined) return "stays excluded";
  const points = paper.score == null ? "" : `, ${paper.score} points`;
  switch (paper.status) {
    case "pending":
    case "analyzing":
      return "is included and will be read";
    case "presented":
      return `is included${points}`;
    case "insights_extracted":
      return `is included and kept for its insights${points}`;
    case "waiting":
      return "waits for a decision";
    case "not_retrieved":
      return paper.override?.decision === "not_retrieved"
        ? "counts as not retrieved"
        : "is included, and nothing of it could be read yet";
    case "rejected":
      return "is excluded";
  }
}

/** @throws ExpectedError (exit code 2) for a duplicate in the search, and for a record that nobody screened. */
async function checkScreened(folder: string, rrd: Rrd, typedName: string, where: string): Promise<void> {
  const search = await readKeptSearch(folder, rrd);
  const record = allRecords(withKeys(rrd), [], search).find(
    ({ id, key, outcome: { stage, duplicateOf } }) =>
      (stage === "not screened" || duplicateOf !== undefined) && (id === typedName || key === typedName),
  );
  if (record === undefined) return;
  const { duplicateOf } = record.outcome;
  if (duplicateOf !== undefined)
    throw new ExpectedError(
      `${oneLine(record.key)} is the same work as ${oneLine(duplicateOf)}; decide on ${oneLine(duplicateOf)}.`,
      2,
    );
  const { doi, arxiv } = record.identifiers ?? {};
  const reference = doi ?? arxiv ?? record.url ?? record.id;
  throw new ExpectedError(
    `${oneLine(record.key)} was found and is not screened, so there is nothing to decide yet; 'research-ralph add ${shellWord(where)} ${shellWord(reference)}' takes it into the pool, and 'research-ralph run ${shellWord(where)} -p <more>' screens more records.`,
    2,
  );
}

/** @throws ExpectedError (exit code 2) for including a retracted paper, and for a duplicate, also a separated one. */
function checkPossible(
  rrd: Rrd,
  namedRecord: Paper | Exclusion,
  decision: DecisionMessage["decision"],
  where: string,
): void {
  const { id } = namedRecord;
  const name = oneLine(nameOf(namedRecord));
  const paper = rrd.papers_pool.find((candidate) => candidate.id === id);
  if (paper !== undefined) {
    if (decision === "include" && paper.retracted === true)
      throw new ExpectedError(`${name} is retracted, and a retracted paper is never included.`, 2);
    return;
  }
  const records = (rrd.excluded ?? []).filter((exclusion) => exclusion.id === id);
  if (records.some(isReversible)) return;
  const [record] = records;
  if (records.some(separatedTest(rrd)))
    throw new ExpectedError(
      `${name} is not screened yet, so there is nothing to decide; ${screeningText(rrd, where)}.`,
      2,
    );
  throw new ExpectedError(
    record?.duplicate_of === undefined
      ? `${name} was excluded as ${record?.stage ?? "not eligible"}, which no decision changes.`
      : `${name} is the same work as ${oneLine(namesIn(rrd).get(record.duplicate_of) ?? record.duplicate_of)}; if it is another, 'research-ralph join ${shellWord(where)} ${name} --part' says so.`,
    2,
  );
}
