import type { Paper, Rrd } from "../../generated/rrd.js";
import type { UpdateCheck } from "../../paper-services/kept-retraction-checks.js";
import type { Change } from "../../folder/research.js";
import { inline, table } from "../derived/markdown.js";

import { deriveStatistics } from "../derived/statistics.js";
import { changeOf } from "../result/accepted-result.js";

/** The answers of one check, kept from the brief of a report to its acceptance. */
export interface RetractionCheck {
  readonly checks: ReadonlyMap<string, UpdateCheck>;
}

/** A pool may hold thousands; a report names some hundred. */
const maxChecked = 300;
const maxListed = 100;

/** What a report rests on: presented papers, then papers with insights, the best first. */
export function papersToCheck(rrd: Rrd): readonly Paper[] {
  const withInsights = new Set((rrd.insights ?? []).map((insight) => insight.paper_id));
  const rank = (paper: Paper) => (paper.status === "presented" ? 1e6 : 0) + (paper.score ?? 0);
  return rrd.papers_pool
    .filter(
      (paper) => paper.status === "presented" || paper.status === "insights_extracted" || withInsights.has(paper.id),
    )
    .toSorted((a, b) => rank(b) - rank(a))
    .slice(0, maxChecked);
}

export interface Checked {
  readonly rrd: Rrd;
  readonly changes: readonly Change[];
  /** Ids of papers that the check found retracted and that were not known to be. */
  readonly retracted: readonly string[];
}

/** The state with what a check found: a retracted paper is no longer presented and gives no insights, whatever its scores. Pure. */
export function withChecks(rrd: Rrd, { checks }: RetractionCheck): Checked {
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

/** What a check changes in a paper's record: what was found and by whom, warnings, and the status of one that no longer stands. Pure. */
export function checkedFields(paper: Paper, check: UpdateCheck): Partial<Paper> {
  const { updates, checked_by, unchecked } = check;
  const demoted_from = paper.updates_check?.demoted_from;
  const noted = {
    ...(checked_by.length > 0 && (updates.length > 0 || paper.updates !== undefined)
      ? { updates: updates.map((update) => ({ ...update })) }
      : {}),
    updates_check: {
      at: check.at,
      checked_by: [...checked_by],
      unchecked: [...unchecked],
      ...(demoted_from === undefined ? {} : { demoted_from }),
    },
  };
  const warnings = [
    ...new Set([...(paper.warnings ?? []), ...updates.filter(({ type }) => type === "concern").map(sentenceOf)]),
  ];
  const warned = warnings.length > (paper.warnings?.length ?? 0) ? { warnings } : {};
  const retraction = updates.find(isRetraction);
  if (retraction === undefined) return { ...noted, ...warned };

  const found = { ...noted, retracted: true, warnings: [...new Set([...warnings, sentenceOf(retraction)])] };
  if (paper.status !== "presented" && paper.status !== "insights_extracted") return found;
  return {
    ...found,
    updates_check: { ...noted.updates_check, demoted_from: paper.status },
    status: "rejected",
    decision: "REJECT",
    notes:
      `${paper.notes ?? ""} (No longer ${paper.decision ?? paper.status}: ${lowerFirst(sentenceOf(retraction)).replace(/\.$/, "")}; found on ${check.at.slice(0, 10)}.)`.trim(),
  };
}

export const isRetraction = ({ type }: { readonly type: string }): boolean =>
  type === "retraction" || type === "withdrawal";

const words: Readonly<Record<string, string>> = {
  retraction: "Retracted",
  withdrawal: "Withdrawn",
  concern: "An expression of concern was published",
};

const sentenceOf = ({
  type,
  date,
  source,
}: {
  readonly type: string;
  readonly date?: string;
  readonly source: string;
}): string => `${words[type] ?? type}${date === undefined ? "" : ` on ${date}`}, as ${source} says.`;

const lowerFirst = (text: string): string => `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;

/** The report's section: what happened to papers after they were published, what was checked, and what could not be. */
export function retractionsOf(rrd: Rrd): string {
  const rows = rrd.papers_pool.flatMap((paper) => {
    const notable = (paper.updates ?? []).filter(({ type }) => type !== "version");
    const what = (type: string) =>
      isRetraction({ type }) && paper.updates_check?.demoted_from !== undefined ? `${type}; no longer presented` : type;
    const named = notable.map(({ type, date, source }) => [
      `${paper.title} (${paper.id})`,
      what(type),
      date ?? "no date",
      source,
    ]);
    return named.length === 0 && paper.retracted === true
      ? [[`${paper.title} (${paper.id})`, "retraction", "no date", "the paper itself or its source"]]
      : named;
  });
  const rest = rows.length - maxListed;
  return [
    table(["Paper", "What", "Date", "Source"], rows.slice(0, maxListed), "None is known."),
    ...(rest > 0 ? [`_${rest} more: see rrd.json._`] : []),
    checkSentence(rrd),
  ].join("\n\n");
}

/** How far the papers that the report rests on were checked, in one or two sentences. */
export function checkSentence(rrd: Rrd): string {
  const papers = [
    ...papersToCheck(rrd),
    ...rrd.papers_pool.filter(
      ({ status, updates_check }) => status === "rejected" && updates_check?.demoted_from !== undefined,
    ),
  ];
  const all = [...new Map(papers.map((paper) => [paper.id, paper])).values()];
  if (all.length === 0) return "There is no presented paper and none with insights to check for retractions.";
  const known = all.filter(({ updates_check }) => (updates_check?.checked_by.length ?? 0) > 0);
  const unknown = all.filter((paper) => !known.includes(paper));
  const reason =
    unknown.map(({ updates_check }) => updates_check?.unchecked[0]).find((why) => why !== undefined) ??
    "no service was asked.";
  const why = inline(reason).replace(/\.?$/, ".");
  if (known.length === 0) return `Retraction status could not be checked: ${why}`;
  const services = [...new Set(known.flatMap(({ updates_check }) => updates_check?.checked_by ?? []))].join(", ");
  const last = known
    .map(({ updates_check }) => updates_check?.at ?? "")
    .toSorted()
    .at(-1)
    ?.slice(0, 10);
  const checked = `${known.length} of the ${all.length} papers that this report rests on were checked for retractions on ${last} (${services}).`;
  if (unknown.length === 0) return checked;
  const ids = `${unknown
    .slice(0, 10)
    .map(({ id }) => id)
    .join(", ")}${unknown.length > 10 ? ", …" : ""}`;
  return `${checked} ${unknown.length} could not be checked, which does not mean that they were not retracted: ${inline(ids)}; ${why}`;
}

/** What the log says of a check. */
export function retractionLines(rrd: Rrd, retracted: readonly string[]): string[] {
  const found = rrd.papers_pool.filter(({ id }) => retracted.includes(id));
  return [
    `**Retraction check:** ${checkSentence(rrd)}`,
    ...found.map((paper) => `- ${paper.title} (${paper.id}) is retracted: ${paper.notes ?? ""}`),
    "",
  ];
}
