import { isCheckedForRetraction } from "../papers/paper-record.js";
import type { Paper, Rrd } from "../generated/rrd.js";
import { statusWords } from "../papers/rubric/rubric.js";
import type { UpdateCheck } from "../paper-lookups/kept-retraction-checks.js";
import { nameOf } from "../papers/paper-keys.js";
import type { Change } from "../project-files/research.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { isSameUpdate, oldestFirst } from "../papers/dedup/companions.js";
import { inline } from "../project-files/markdown.js";
import { deriveStatistics } from "../derived/statistics.js";
import { countingInsights } from "../screening/eligibility/eligibility.js";
import { groupBy } from "../../engine/lib/group.js";
import { quantity } from "../../engine/lib/words.js";
import { changeOf } from "./judged-result.js";

/** The answers of a retraction check by paper id, from the preparation of a report to its acceptance. */
export type RetractionChecks = ReadonlyMap<string, UpdateCheck>;

/** Maximum number of checked papers. A pool can have thousands of papers, but a report cites about a hundred. */
const maxCheckedPapers = 300;

/** The statuses of papers that count: presented, used for insights, or waiting for the user. */
const countingStatuses: ReadonlySet<string> = new Set(["presented", "insights_extracted", "waiting"]);

/** The papers of a report: presented papers first, then papers with insights and waiting papers, by score. */
export function papersToCheck(rrd: Rrd): readonly Paper[] {
  const withInsights = new Set(countingInsights(rrd).map((insight) => insight.paper_id));
  const rank = (paper: Paper) => (paper.status === "presented" ? 1e6 : 0) + (paper.score ?? 0);
  return rrd.papers_pool
    .filter((paper) => countingStatuses.has(paper.status) || withInsights.has(paper.id))
    .toSorted((a, b) => rank(b) - rank(a))
    .slice(0, maxCheckedPapers);
}

export interface CheckedState {
  readonly rrd: Rrd;
  readonly changes: readonly Change[];
  /** Ids of papers that this check newly found to be retracted. */
  readonly retracted: readonly string[];
}

/**
 * Applies a check to the state. A retracted paper is no longer presented and gives no insights, whatever its score.
 * Without checks the state is unchanged. Pure.
 */
export function applyChecks(rrd: Rrd, checks: RetractionChecks = new Map()): CheckedState {
  if (checks.size === 0) return { rrd, changes: [], retracted: [] };
  const retracted: string[] = [];
  const changes: Change[] = [];
  const papers_pool = rrd.papers_pool.map((paper) => {
    const check = checks.get(paper.id);
    if (check === undefined) return paper;
    const set = checkedFields(paper, check);
    if (set.retracted === true && paper.retracted !== true) retracted.push(paper.id);
    changes.push(changeOf(paper, set));
    return { ...paper, ...set };
  });
  const checked = { ...rrd, papers_pool };
  return { rrd: { ...checked, statistics: deriveStatistics(checked) }, changes, retracted };
}

/**
 * The fields of a paper's record that a check changes: its updates, the services, warnings, and the status of a
 * retracted paper. Pure.
 */
export function checkedFields(paper: Paper, check: UpdateCheck): Partial<Paper> {
  const { updates, checked_by, unchecked, at, citation } = check;
  const { status, notes } = paper;
  const demoted_from = paper.updates_check?.demoted_from;
  const isNews = checked_by.length > 0 && (updates.length > 0 || paper.updates !== undefined);
  const all = mergeUpdates(paper, check);
  const updates_check = {
    at,
    checked_by: [...checked_by],
    unchecked: [...unchecked],
    ...withoutUndefined({ demoted_from }),
    ...(citation === undefined ? {} : { citation: copyCitation(citation) }),
  };
  const noted = { ...(isNews ? { updates: all } : {}), updates_check };
  const concerns = updateSentences(updates.filter(({ type }) => type === "concern"));
  const warnings = [...new Set([...(paper.warnings ?? []), ...concerns])];
  const retraction = updates.find(isRetraction);
  if (retraction === undefined)
    return { ...noted, ...(warnings.length > (paper.warnings?.length ?? 0) ? { warnings } : {}) };

  const [sentence = ""] = updateSentences([retraction]);
  const found = { ...noted, retracted: true, warnings: [...new Set([...warnings, sentence])] };
  if (!countingStatuses.has(status)) return found;
  const because = `${sentence.slice(0, 1).toLowerCase()}${sentence.slice(1).replace(/\.$/, "")}`;
  return {
    ...found,
    updates_check: { ...updates_check, demoted_from: status },
    status: "rejected",
    decision: "REJECT",
    notes: `${notes ?? ""} (No longer ${statusWords[status]}: ${because}; found on ${at.slice(0, 10)}.)`.trim(),
  };
}

/** All updates of a paper: those of this check, and earlier ones of services that did not answer this time. */
function mergeUpdates(paper: Paper, { updates, checked_by }: UpdateCheck): NonNullable<Paper["updates"]> {
  const isReportedNow = (one: NonNullable<Paper["updates"]>[number]) => updates.some((each) => isSameUpdate(each, one));
  // "Crossref (retraction-watch)" is an answer of Crossref.
  const hasAnswered = (source: string) => checked_by.some((name) => source === name || source.startsWith(`${name} (`));
  const known = (paper.updates ?? []).filter((one) => !hasAnswered(one.source) && !isReportedNow(one));
  return oldestFirst([...known, ...updates].map((update) => ({ ...update })));
}

const copyCitation = ({ matched_by, differs, unknown_to }: NonNullable<UpdateCheck["citation"]>) => ({
  matched_by: [...matched_by],
  differs: [...differs],
  unknown_to: [...unknown_to],
});

export const isRetraction = ({ type }: { readonly type: string }): boolean =>
  type === "retraction" || type === "withdrawal";

const updateWords: Readonly<Record<string, string>> = {
  retraction: "Retracted",
  withdrawal: "Withdrawn",
  concern: "An expression of concern was published",
  correction: "Corrected",
  addendum: "An addendum was published",
};

/** The sentences about the updates of a paper that its readers must know: all but newer versions. */
export const updateSentences = (
  updates: readonly { readonly type: string; readonly date?: string; readonly source: string }[],
): string[] =>
  updates.flatMap(({ type, date, source }) => {
    const words = updateWords[type];
    return words === undefined ? [] : `${words}${date === undefined ? "" : ` on ${date}`}, as ${source} says.`;
  });

/** One or two sentences on how many papers of the report were checked. */
export function retractionCheckText(rrd: Rrd): string {
  const isDemoted = ({ status, updates_check }: Paper) =>
    status === "rejected" && updates_check?.demoted_from !== undefined;
  const all = [...new Set([...papersToCheck(rrd), ...rrd.papers_pool.filter(isDemoted)])];
  if (all.length === 0)
    return "No paper is presented or kept for its insights, so there was nothing to check for retractions.";
  const [known, unknown] = [all.filter(isCheckedForRetraction), all.filter((paper) => !isCheckedForRetraction(paper))];
  const why = reasonsOf(unknown);
  if (known.length === 0) return `Retraction status could not be checked: ${why}`;
  const services = [...new Set(known.flatMap(({ updates_check }) => updates_check?.checked_by ?? []))].join(", ");
  const last = known
    .map(({ updates_check }) => updates_check?.at.slice(0, 10) ?? "")
    .toSorted()
    .at(-1);
  const checked = `${known.length} of the ${all.length} papers that this report rests on were checked for retractions on ${last} (${services}).`;
  if (unknown.length === 0) return checked;
  const [ids, more] = [unknown.slice(0, 10).map(nameOf).join(", "), unknown.length > 10 ? ", …" : ""];
  return `${checked} ${unknown.length} could not be checked, which does not mean that they were not retracted: ${inline(ids)}${more}; ${why}`;
}

/** The reasons why papers could not be checked. If there are several, each has the number of its papers. */
function reasonsOf(unknown: readonly Paper[]): string {
  const byReason = groupBy(unknown, ({ updates_check }) =>
    inline(updates_check?.unchecked[0] ?? "no service was asked")
      .replace(/^every source: /, "")
      .replace(/\.$/, ""),
  );
  if (byReason.size === 1) return `${[...byReason.keys()][0]}.`;
  return `${[...byReason].map(([reason, papers]) => `${quantity(papers.length, "paper")}: ${reason}`).join(". ")}.`;
}

/** The lines about a check in the log. */
export function retractionLines(rrd: Rrd, retracted: readonly string[]): string[] {
  const found = rrd.papers_pool.filter(({ id }) => retracted.includes(id));
  return [
    `**Retraction check:** ${retractionCheckText(rrd)}`,
    ...found.map((paper) => `- ${paper.title} (${nameOf(paper)}) is retracted: ${paper.notes ?? ""}`),
    "",
  ];
}
