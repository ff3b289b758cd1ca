import type { Delayed, Verdict } from "../../../engine/loop/types.js";
import { shellWord, withoutSourcePrefix } from "../../../engine/lib/sanitise.js";
import type { AnalysisResult } from "../../generated/result-analysis.js";
import type { Paper } from "../../generated/rrd.js";
import { openUpdate, papersToReadAgain } from "../../derived/open-update.js";
import { expectedPapers, maxRefusals, paperOf, untriedSources } from "../../derived/status.js";
import { nameOf } from "../../papers/paper-keys.js";
import { abstractOf } from "../../papers/read-depth.js";
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
    if (postponed.length > 0) return blockedVerdict(postponedMessage(postponed, readablePapers, folder));
    return refusedPapersVerdict(refusedPapers, folder);
  },
  basis(rrd, id) {
    const { title, url, pdf_url, identifiers, abstract, refusals, retracted } = paperOf(rrd, id) ?? {};
    return [title, url, pdf_url, identifiers, abstract, refusals?.length, retracted];
  },
  load: async () => (await import("./work.js")).work,
};

/** The verdict if the only papers that remain were refused too often, with advice. */
export function refusedPapersVerdict(refused: readonly Pick<Paper, "id" | "key">[], folder: string): Verdict {
  const names = refused.map(nameOf);
  const [quotedFolder, pronoun] = [shellWord(folder), names.length === 1 ? "it" : "that one"];
  return blockedVerdict(
    `${names.length === 1 ? "One paper is" : `${names.length} papers are`} left whose results were refused ${maxRefusals} times (${names.slice(0, 3).join(", ")}${names.length > 3 ? ", …" : ""}); ` +
      `'research-ralph reset ${quotedFolder} --paper ${names[0]}' tries ${pronoun} again, another --agent may do better, and 'research-ralph decide ${quotedFolder} ${names[0]} exclude "why"' leaves ${pronoun} out`,
  );
}

/** The reason of the verdict if only papers remain whose texts are not available now, with the commands that go on. */
function postponedMessage(postponed: readonly Delayed[], papers: readonly Paper[], folder: string): string {
  const waiting = papers.filter(({ id }) => postponed.some(({ unit }) => unit.id === id));
  const names = postponed.map(({ unit }) => nameOf(waiting.find(({ id }) => id === unit.id) ?? unit));
  const reasons = [...new Set(postponed.map(({ reason }) => reason.replace(/\.$/, "")))];
  const [isOne, quotedFolder] = [names.length === 1, shellWord(folder)];
  return (
    `The text of ${isOne ? "one paper" : `${names.length} papers`} is not available now (${names.slice(0, 3).join(", ")}${names.length > 3 ? ", …" : ""}): ${reasons.slice(0, 3).join("; ")}. ` +
    `Run again later to read ${isOne ? "it" : "them"} in full; 'research-ralph run ${quotedFolder} --abstracts' ${withAbstracts(waiting)}, and 'research-ralph add ${quotedFolder} <file.pdf>' gives a paper its text`
  );
}

/** What `run --abstracts` does with these papers. A paper without an abstract is not retrieved. */
function withAbstracts(papers: readonly Paper[]): string {
  const without = papers.filter((paper) => abstractOf(paper) === "").length;
  if (without === papers.length)
    return `goes on and counts ${without === 1 ? "it as not retrieved, because it has no abstract" : "them as not retrieved, because they have no abstracts"}`;
  const reads = papers.length - without === 1 ? "reads what the abstract says now" : "reads what the abstracts say now";
  return without === 0
    ? reads
    : `${reads} and counts the ${without === 1 ? "one" : `${without} papers`} without an abstract as not retrieved`;
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
