import { ExpectedError } from "../../engine/lib/errors.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { lockFile } from "../../engine/lib/layout.js";
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
import type { Criterion } from "../generated/rrd.js";
import { editResearch } from "../project-files/edit-by-command.js";
import { readResearch } from "../project-files/research.js";
import { signState } from "../project-files/guarded/signed-state.js";
import type { Exclusion, Paper, Rrd } from "../generated/rrd.js";
import { namesIn, nameOf } from "../papers/paper-keys.js";
import { editOrLeave, type LeaveOptions } from "./edit-or-leave.js";
import { recordNamed } from "./which-record.js";
import { statusOf } from "../workflow/next-unit.js";
import { completerOf } from "../workflow/steering/kept-search.js";
import { isReversible, withOverride, withOverrides } from "../derived/overrides.js";
import { derive } from "../workflow/derive.js";

/** What a person decides on the eligibility of a paper. */
export interface EligibilityDecision {
  /** A paper or an excluded record, as `recordNamed` takes it. */
  readonly paper: string;
  /** "include", "exclude" or "not-retrieved". */
  readonly decision: string;
  /** Absent or empty: the words of the criterion. */
  readonly why?: string;
  /** Id of the criterion that excludes it. */
  readonly criterion?: string;
}

/** What came of a decision. */
export interface Decided {
  /** Its id. */
  readonly paper: string;
  /** What people call it. */
  readonly key: string;
  /** The reason that is kept. */
  readonly why: string;
  /** The paper's status with the decision, or `excluded` for a record that came into no pool. */
  readonly status: Paper["status"] | "excluded";
  /** False while a run is under way, which takes the decision before its next iteration. */
  readonly applied: boolean;
  /** What the paper is now, one sentence. */
  readonly says: string;
  /** How the report gets to know of it, where one is written. */
  readonly next?: string;
}

interface DecideOptions extends LeaveOptions {
  /** The project as the person knows it. */
  readonly where: string;
}

/**
 * Writes a person's decisions on the eligibility of papers, which beat the criteria, all in one edit. While a run holds
 * the project, they are left for it and taken before its next iteration.
 * @throws ExpectedError (exit code 2), and writes none, for another word than these three, no reason or one that is too
 * long, a criterion or a paper that is not there, a retracted one that is to be included, and a duplicate.
 */
export async function recordDecisions(
  folder: string,
  said: readonly EligibilityDecision[],
  { where, now, stateDir, git, notify }: DecideOptions,
): Promise<readonly Decided[]> {
  const before = await readResearch(folder);
  const messages = said.map((one) => messageOf(before.rrd, one, where));
  const at = new Date(now).toISOString();
  const included = messages.filter(({ decision }) => decision !== "exclude").map(({ record }) => record);
  const complete = await completerOf(folder, before.rrd, new Set(included));
  const change = (rrd: Rrd): Rrd =>
    withOverrides(
      messages.reduce(
        (whole, { record, decision, why, criterion }) =>
          withOverride(whole, record, { decision, why, ...withoutUndefined({ criterion }), at }),
        complete(rrd),
      ),
    );
  // What was decided on a record before and no run has taken must not come after this.
  const records = messages.map(({ record }) => record);
  const edited = await editOrLeave(folder, change, messages, { stateDir, now, git, notify }, () =>
    takeUnheard(folder, records),
  );
  const [running, after] = [edited === undefined, edited ?? change(before.rrd)];
  const isReportNow = (rrd: Rrd) => statusOf(rrd, before.ledger).done.includes("report");
  const isOlder = !running && isReportNow(before.rrd) && !isReportNow(after);
  const names = namesIn(before.rrd);
  return messages.map(({ record, why }): Decided => {
    const paper = after.papers_pool.find((each) => each.id === record);
    const when = running ? " A run is under way and takes the decision before its next iteration." : "";
    return {
      paper: record,
      key: names.get(record) ?? record,
      why,
      status: paper?.status ?? "excluded",
      applied: !running,
      says: `${oneLine(names.get(record) ?? record)} ${outcome(paper)}.${when}`,
      ...(isOlder
        ? {
            next: `The report is older than this decision: research-ralph run ${shellWord(where)} ${paper?.status === "pending" ? "reads the paper and writes it" : "writes it"} again.`,
          }
        : {}),
    };
  });
}

/** The reason of a paper that a criterion excludes, if a person gives no other. */
const wordsOf = ({ kind, text }: Criterion): string => `${kind === "include" ? "Not" : "It is"}: ${text}`;

/** A decision as a run is told of it. @throws ExpectedError (exit code 2) where it can't be made. */
function messageOf(
  rrd: Rrd,
  { paper, decision: said, why: words = "", criterion }: EligibilityDecision,
  where: string,
): DecisionMessage {
  const decision = said.replace("-", "_");
  if (!isDecisionName(decision))
    throw new ExpectedError(`The decision is '${oneLine(said)}'; it must be include, exclude or not-retrieved.`, 2);
  const criteria = criteriaOf(rrd);
  const by = criteria.find(({ id }) => id === criterion);
  if (criterion !== undefined && by === undefined) {
    const others = criteria.length === 0 ? "none" : criteria.map(({ id }) => id).join(", ");
    throw new ExpectedError(`There is no criterion '${oneLine(criterion)}' in ${where}; it has ${others}.`, 2);
  }
  const why = words.trim() || (by === undefined ? "" : wordsOf(by));
  if (why === "") throw new ExpectedError("The reason is empty; give it in quotes after the decision.", 2);
  if (why.length > maxMessageChars)
    throw new ExpectedError(`The reason has ${why.length} characters; at most ${maxMessageChars} are allowed.`, 2);
  const record = recordNamed(rrd, paper, where);
  requirePossible(rrd, record, decision, where);
  return { record: record.id, decision, why, ...withoutUndefined({ criterion }) };
}

/** Takes decisions on these records away that no run has heard yet; how many there were. */
async function takeUnheard(folder: string, records: readonly string[]): Promise<number> {
  const unheard = (await readMessages(folder)).filter((each) => "record" in each && records.includes(each.record));
  for (const { id } of unheard) await removeMessage(folder, id);
  return unheard.length;
}

/**
 * Puts a record back to how it was in an earlier state, which takes a decision on it back; false where a run has taken
 * the decision meanwhile, so that only another decision changes it.
 */
export async function takeBack(
  folder: string,
  id: string,
  earlier: Rrd,
  { stateDir, git, notify }: Omit<DecideOptions, "where" | "now">,
): Promise<boolean> {
  if ((await takeUnheard(folder, [id])) > 0) return true;
  if (await isHeldByRun(lockFile(folder))) return false;
  const was = earlier.papers_pool.find((paper) => paper.id === id);
  const left = (earlier.excluded ?? []).filter((one) => one.id === id);
  const change = (rrd: Rrd): Rrd => {
    const pool =
      was === undefined
        ? rrd.papers_pool.filter((paper) => paper.id !== id)
        : rrd.papers_pool.map((paper) => (paper.id === id ? was : paper));
    const excluded = [...(rrd.excluded ?? []).filter((one) => one.id !== id), ...left];
    return { ...rrd, papers_pool: pool, ...(rrd.excluded === undefined && left.length === 0 ? {} : { excluded }) };
  };
  await editResearch(folder, change, { derive, git, notify });
  await signState(folder, stateDir);
  return true;
}

/** What the decision makes of the paper. */
function outcome(paper: Paper | undefined): string {
  if (paper === undefined) return "stays excluded";
  const score = paper.score == null ? "" : `, score ${paper.score}`;
  switch (paper.status) {
    case "pending":
    case "analyzing":
      return "is included and will be read";
    case "presented":
      return `is included${score}`;
    case "insights_extracted":
      return `is included and kept for its insights${score}`;
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

/** @throws ExpectedError (exit code 2) for a retracted paper that is to be included, and for a duplicate. */
function requirePossible(
  rrd: Rrd,
  named: Paper | Exclusion,
  decision: DecisionMessage["decision"],
  where: string,
): void {
  const { id } = named;
  const name = oneLine(nameOf(named));
  const paper = rrd.papers_pool.find((each) => each.id === id);
  if (paper !== undefined) {
    if (decision === "include" && paper.retracted === true)
      throw new ExpectedError(`${name} is retracted, and a retracted paper is never included.`, 2);
    return;
  }
  const records = (rrd.excluded ?? []).filter((one) => one.id === id);
  if (records.some(isReversible)) return;
  const [record] = records;
  throw new ExpectedError(
    record?.duplicate_of === undefined
      ? `${name} was excluded as ${record?.stage ?? "not eligible"}, which no decision changes.`
      : `${name} is the same work as ${oneLine(namesIn(rrd).get(record.duplicate_of) ?? record.duplicate_of)}; if it is another, 'research-ralph join ${shellWord(where)} ${name} --part' says so.`,
    2,
  );
}
