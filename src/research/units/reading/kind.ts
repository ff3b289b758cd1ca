import type { Delayed, Verdict } from "../../../engine/loop/types.js";
import { shellWord, withoutSourcePrefix } from "../../../engine/lib/sanitise.js";
import type { AnalysisResult } from "../../generated/result-analysis.js";
import type { Paper } from "../../generated/rrd.js";
import { openUpdate, papersToReadAgain } from "../../derived/open-update.js";
import { expectedPapers, maxRefusals, paperOf, untriedSources } from "../../derived/status.js";
import { isDecided } from "../../papers/rubric/rubric.js";
import { eligibilityReport } from "../../screening/eligibility/eligibility.js";
import { blockedVerdict } from "../single-unit.js";
import { briefInput, type ChoiceContext, type Project, type UnitKind } from "../unit-kind.js";
import type { ReadingMaterial } from "./prepare.js";

/** Tokens of a paper of median length. */
export const medianPaperTokens = 15_000;

/** Reads one paper, in full if its text is available. */
export const reading: UnitKind<ReadingMaterial, AnalysisResult> = {
  name: "paper",
  phase: "ANALYSIS",
  part: "ANALYSIS",
  schema: "result-analysis",
  estimate: { input: briefInput + medianPaperTokens, output: 2_500, minutes: 3 },
  activityText: (name) => `reads ${name}`,
  owns: ({ phase }) => phase === "ANALYSIS",
  isDone: ({ status }) => status.isAllRead,
  remainingUnits({ rrd, status: { isDiscoveryOver }, records = Infinity }) {
    const pool = rrd.papers_pool.length;
    const decided = rrd.papers_pool.filter(isDecided).length;
    if (openUpdate(rrd) !== undefined) return pool - decided + papersToReadAgain(rrd).length;
    return (isDiscoveryOver ? pool : Math.max(Math.min(expectedPapers(rrd), records), pool)) - decided;
  },
  next(project, { unitsInProgress, delayedUnits, folder }) {
    const { readablePapers, refusedPapers } = project.status;
    if (project.rrd.papers_pool.length === 0) return nothingFound(project, folder);
    const postponed = delayedUnits.filter(({ unit }) => readablePapers.some((paper) => paper.id === unit.id));
    const paper = readablePapers.find(
      ({ id }) => !unitsInProgress.has(id) && !postponed.some(({ unit }) => unit.id === id),
    );
    if (paper !== undefined) return { kind: this.name, id: paper.id, phase: this.phase, title: paper.title };
    if (unitsInProgress.size > 0) return "wait";
    if (postponed.length > 0) return blockedVerdict(postponedMessage(postponed, folder));
    return refusedPapersVerdict(refusedPapers, folder);
  },
  basis(rrd, id) {
    const { title, url, pdf_url, identifiers, abstract, refusals, retracted } = paperOf(rrd, id) ?? {};
    return [title, url, pdf_url, identifiers, abstract, refusals?.length, retracted];
  },
  load: async () => (await import("./work.js")).work,
};

/** The verdict if the only papers that remain were refused too often, with advice. */
export function refusedPapersVerdict(refused: readonly Pick<Paper, "id">[], folder: string): Verdict {
  const ids = refused.map(({ id }) => id);
  const [quotedFolder, pronoun] = [shellWord(folder), ids.length === 1 ? "it" : "that one"];
  return blockedVerdict(
    `${ids.length === 1 ? "One paper is" : `${ids.length} papers are`} left whose results were refused ${maxRefusals} times (${ids.slice(0, 3).join(", ")}${ids.length > 3 ? ", …" : ""}); ` +
      `'research-ralph reset ${quotedFolder} --paper ${ids[0]}' tries ${pronoun} again, another --agent may do better, and 'research-ralph decide ${quotedFolder} ${ids[0]} exclude "why"' leaves ${pronoun} out`,
  );
}

function postponedMessage(postponed: readonly Delayed[], folder: string): string {
  const ids = postponed.map(({ unit }) => unit.id);
  const reasons = [...new Set(postponed.map(({ reason }) => reason.replace(/\.$/, "")))];
  return (
    `The text of ${ids.length === 1 ? "one paper" : `${ids.length} papers`} is not available now (${ids.slice(0, 3).join(", ")}${ids.length > 3 ? ", …" : ""}): ${reasons.slice(0, 3).join("; ")}. ` +
    `Run again later to read ${ids.length === 1 ? "it" : "them"} in full; 'research-ralph run ${shellWord(folder)} --abstracts' reads what the ${ids.length === 1 ? "abstract says" : "abstracts say"} now, and 'research-ralph add ${shellWord(folder)} <file.pdf>' gives a paper its text`
  );
}

function nothingFound({ rrd }: Project, folder: ChoiceContext["folder"]): Verdict {
  const { criteria, screening } = eligibilityReport(rrd);
  const excluded = screening.reduce((sum, { count }) => sum + count, 0);
  if (criteria.length > 0 && excluded > 0)
    return blockedVerdict(
      `The eligibility criteria excluded ${excluded === 1 ? "the one record" : `all ${excluded} records`} that ${excluded === 1 ? "was" : "were"} screened (${screening.map(({ reason, count }) => `${reason}: ${count}`).join(", ")}); correct requirements.criteria in rrd.json, then 'research-ralph reset ${shellWord(folder)} --unit discovery' screens again`,
    );
  const screenedOut = (rrd.excluded ?? []).filter(({ stage }) => stage === "screened").length;
  if (screenedOut > 0)
    return blockedVerdict(
      `${screenedOut === 1 ? "The one record that came was" : `All ${screenedOut} records that came were`} left out by the screening of titles and abstracts; 'research-ralph screen ${shellWord(folder)} --all' shows ${screenedOut === 1 ? "it with its reason and brings it" : "them with their reasons and brings them"} back, and other keywords in rrd.json search anew after 'research-ralph reset ${shellWord(folder)} --unit discovery'`,
    );
  const reasons = Object.entries(rrd.statistics?.discovery_metrics?.source_failure_reasons ?? {}).map(
    ([name, why]) => `${name}: ${withoutSourcePrefix(name, String(why)).replace(/\.$/, "")}`,
  );
  const untried = untriedSources(rrd);
  const why = [...reasons, ...(untried.length > 0 ? [`never tried: ${untried.join(", ")}`] : [])].join("; ");
  return blockedVerdict(
    `No source brought a paper (${why === "" ? "nothing matched the keywords" : why}); correct the sources or keywords in rrd.json, then 'research-ralph reset ${shellWord(folder)} --unit discovery' searches again`,
  );
}
