import type { ReportFile } from "../../generated/report.js";
import type { ReportResult } from "../../generated/result-report.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { quantity } from "../../../engine/lib/words.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { stateVersion } from "../../../engine/storage/state/format-version.js";
import { schemaAddress } from "../../../engine/storage/schema-check.js";
import { type Acceptance, dayOf, type JudgingContext, type Rejection } from "../judged-result.js";
import { onOneLine } from "../../project-files/markdown.js";
import { patternLines } from "../../project-files/progress-log.js";
import { quotedWords } from "../../../text/evidence/quoted.js";
import { evidenceAt, evidenceOf, reasonNotToCite } from "../narrative/handles.js";
import { closeUpdate } from "./close-update.js";
import { checkOfKeptVerdicts, keepVerdicts } from "../narrative/kept-narrative.js";
import { openCheck, papersById } from "../narrative/open-check.js";
import { sentencesOf } from "../narrative/sentences.js";
import { groupInsights } from "./insight-groups.js";
import { findPairs } from "./opposite-findings.js";
import { type RetractionChecks, retractionLines, applyChecks } from "../retractions.js";
import { bibliographyName, reportDataName, reportName } from "../../project-files/layout.js";

/** The name of a group of insights in the unit and in its result. `index` starts at 0. */
export const groupName = (index: number): string => `g${index + 1}`;
/** The name of a pair of quotes in the unit and in its result. `index` starts at 0. */
export const pairName = (index: number): string => `p${index + 1}`;

/**
 * Checks that every statement cites existing quotes of papers that may be cited, and that themes name groups of the
 * unit. Numbers that are not in the quotes do not refuse a report: they are shown in the report and by
 * `report --check`. `formerNarrative`: the report that this one replaces.
 */
export function acceptReport(
  stateBefore: Rrd,
  result: ReportResult,
  judging: JudgingContext,
  checks?: RetractionChecks,
  formerNarrative?: ReportFile,
): Acceptance | Rejection {
  const { rrd, changes, retracted } = applyChecks(stateBefore, checks);
  const papers = papersById(rrd);
  const groups = groupInsights(rrd);
  // The pairs of the brief: a paper that was found retracted only now must not change the names of the other pairs.
  const pairs = findPairs(stateBefore.papers_pool);
  const pairOf = (name: string) => pairs.find((_, index) => pairName(index) === name);
  const reasons = [
    ...(result.unit === "report" ? [] : [`unit is "${result.unit}"; this unit is "report"`]),
    ...reasonsWithoutQuotes(result, papers),
    ...result.themes.flatMap((theme, index) =>
      theme.groups
        .filter((name) => !groups.some((_, position) => groupName(position) === name))
        .map((name) => `/themes/${index} names the group "${name}", which the unit does not have`),
    ),
    ...(result.side_by_side ?? []).flatMap(({ pair }, index) =>
      pairOf(pair) === undefined
        ? [`/side_by_side/${index} names the pair "${pair}", which the unit does not have`]
        : [],
    ),
    ...(result.comparison?.rows ?? []).flatMap(({ cells }, index) =>
      cells.length === result.comparison?.approaches.length
        ? []
        : [
            `/comparison/rows/${index} has ${cells.length} cells for ${result.comparison?.approaches.length} approaches`,
          ],
    ),
    ...sentencesOf(result).flatMap(([where, { rests_on = [] }]) =>
      rests_on.flatMap((handle) => {
        const found = evidenceAt(handle, papers);
        if ("reason" in found) return `${where} rests on "${handle}": ${found.reason}`;
        const why = reasonNotToCite(found.paper);
        return why === undefined ? [] : `${where} rests on "${handle}": ${found.paper.id} ${why}; never build on it`;
      }),
    ),
  ];
  if (reasons.length > 0) return { reasons: [...new Set(reasons)] };

  const { unit: _, patterns, themes, comparison, findings, side_by_side: contrasts = [], ...otherFields } = result;
  // A report that is written again after an update still starts with the changes of the update.
  const formerIds = new Set((rrd.updates?.at(-1)?.before ?? []).map(({ id }) => id));
  const closed = closeUpdate(rrd, "written", judging.at);
  const comparisons = contrasts.flatMap(({ pair, text }) => {
    const { sides } = pairOf(pair) ?? { sides: [] };
    const areCitable = sides.every(({ paper: { id } }) => reasonNotToCite(papers.get(id) as Paper) === undefined);
    return sides.length > 0 && areCitable ? [{ text, rests_on: sides.map(({ handle }) => handle) }] : [];
  });
  const citingSentences = [...sentencesOf(result).map(([, sentence]) => sentence), ...comparisons];
  const handles = [...new Set(citingSentences.flatMap(({ rests_on = [] }) => rests_on))].toSorted();
  // The generated types allow unknown fields, which this object's type does not express.
  const newReport = {
    $schema: schemaAddress("report"),
    format: stateVersion,
    written_at: judging.at.toISOString(),
    iteration: judging.iteration,
    agent: judging.agent,
    ...otherFields,
    // A finding can continue only a finding of the former report.
    findings: findings.map(({ was, ...finding }) => ({ ...finding, ...(formerIds.has(was ?? "") ? { was } : {}) })),
    ...withoutUndefined({ comparison }),
    ...(comparisons.length === 0 ? {} : { side_by_side: comparisons }),
    themes: themes.map(({ groups: groupNames, ...theme }) => ({
      ...theme,
      insight_ids: groupNames.flatMap((name) =>
        (groups[Number(name.slice(1)) - 1]?.insights ?? []).flatMap(({ id }) => id ?? []),
      ),
    })),
    quotes: Object.fromEntries(
      evidenceOf(handles, papers).map(({ handle, evidence }) => [handle, quotedWords(evidence)]),
    ),
  } as unknown as ReportFile;
  const marked = keepVerdicts(formerNarrative, newReport);
  const checked = judging.check !== undefined ? openCheck(closed.rrd, marked) : { rrd: closed.rrd, changes: [] };
  const narrative =
    checked.changes.length > 0 ? marked : { ...marked, ...checkOfKeptVerdicts(formerNarrative, marked) };
  return {
    changes: [...changes, ...closed.changes, ...checked.changes],
    files: [{ name: reportDataName, text: `${JSON.stringify(narrative, null, 2)}\n` }],
    toRender: { rrd: checked.rrd, narrative },
    progress: [
      `## ${dayOf(judging.at)} - Report`,
      "",
      `Generated: ${reportName}, ${reportDataName}, ${bibliographyName}`,
      "",
      ...retractionLines(rrd, retracted).map(onOneLine),
      ...patternLines("report", patterns),
    ].join("\n"),
    summary: `report written, ${quantity(result.findings.length, "finding")}${retracted.length === 0 ? "" : `, ${retracted.length} ${retracted.length === 1 ? "paper" : "papers"} found retracted`}`,
    ...(retracted.length === 0 ? {} : { ledger: { retracted: [...retracted] } }),
  };
}

/** The reasons for refusing a report without quotes if the project has quotes that it could cite. */
function reasonsWithoutQuotes({ answer, findings }: ReportResult, papers: ReadonlyMap<string, Paper>): string[] {
  const isQuoted = (paper: Paper) =>
    reasonNotToCite(paper) === undefined &&
    (paper.analysis?.evidence ?? []).some(({ status }) => status !== "not-in-text");
  if (![...papers.values()].some(isQuoted)) return [];
  return [
    ...answer.flatMap(({ rests_on = [] }, index) =>
      rests_on.length === 0 ? [`/answer/${index} rests on no quote; name at least one by its handle`] : [],
    ),
    ...(findings.length === 0 ? ["there are no findings, although papers were quoted"] : []),
  ];
}
