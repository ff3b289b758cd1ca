import type { Delayed, Unit, Verdict } from "../../engine/loop/types.js";
import type { Rrd } from "../generated/rrd.js";
import { maxRefusals, unitRefusals, untriedSources, type ResearchState, type ResearchUnit } from "../derived/status.js";
import { eligibilityReport } from "../screening/eligibility/eligibility.js";
import { shellWord } from "../../engine/lib/sanitise.js";

/**
 * What to do next: a discovery batch, the most urgent paper (by its priority, `status.ts`; records not yet screened
 * have their order from `research/screening/screening-order.ts`), the report, the ideas, or nothing more. Pure. `busy`:
 * units under way. `later`: papers whose text can't be had for now. `folder`: whose, for advice.
 */
export function nextUnit(
  state: ResearchState,
  busy: readonly Unit[],
  later: readonly Delayed[],
  folder: string,
): ResearchUnit | "wait" | Verdict {
  const { rrd, ledger, status } = state;
  const taken = new Set(busy.map((unit) => unit.id));
  const putOff = later.filter(({ unit }) => status.readable.some((paper) => paper.id === unit.id));
  const once = (unit: ResearchUnit): ResearchUnit | "wait" | Verdict => {
    if (taken.size > 0) return "wait";
    const refusals = unitRefusals(rrd, ledger, unit.id);
    if (refusals.length < maxRefusals) return unit;
    const why = refusals.at(-1)?.reasons[0] ?? "of its form";
    return blocked(
      `${unit.title} was refused ${refusals.length} times, the last time because ${why}; 'research-ralph reset ${shellWord(folder)} --unit ${unit.kind}' tries again, another --agent may do better`,
    );
  };

  if (!status.discoveryOver) {
    const batch = (rrd.statistics?.discovery_metrics?.batches ?? 0) + 1;
    return once({
      kind: "discovery",
      id: `discovery-${batch}`,
      phase: "DISCOVERY",
      title: `Discovery, batch ${batch}`,
    });
  }
  if (rrd.papers_pool.length === 0) return nothingFound(state, folder);

  const paper = status.readable.find(({ id }) => !taken.has(id) && !putOff.some(({ unit }) => unit.id === id));
  if (paper !== undefined) return { kind: "paper", id: paper.id, phase: "ANALYSIS", title: paper.title };
  if (taken.size > 0) return "wait";
  if (putOff.length > 0) return blocked(noTextNow(putOff));
  if (status.refused.length > 0) {
    const ids = status.refused.map((refused) => refused.id);
    return blocked(
      `${ids.length === 1 ? "One paper is" : `${ids.length} papers are`} left whose results were refused ${maxRefusals} times (${ids.slice(0, 3).join(", ")}${ids.length > 3 ? ", …" : ""}); ` +
        `'research-ralph reset ${shellWord(folder)} --paper ${ids[0]}' tries ${ids.length === 1 ? "it" : "that one"} again, another --agent may do better`,
    );
  }
  if (!status.reportDone) return once({ kind: "report", id: "report", phase: "ANALYSIS", title: "Report" });
  if (!status.ideasDone) return once({ kind: "ideas", id: "ideas", phase: "IDEATION", title: "Product ideas" });
  return {
    verdict: "complete",
    reason: `${allAnalysed(rrd)}${status.ideasWanted ? ", the report and the ideas are written" : " and the report is written"}.`,
  };
}

/** That each paper has its analysis, as the beginning of a sentence. */
export const allAnalysed = ({ papers_pool: { length } }: Pick<Rrd, "papers_pool">): string =>
  length === 1 ? "The one paper is analysed" : `All ${length} papers are analysed`;

const blocked = (reason: string): Verdict => ({ verdict: "blocked", reason: `${reason}.` });

function noTextNow(putOff: readonly Delayed[]): string {
  const ids = putOff.map(({ unit }) => unit.id);
  const reasons = [...new Set(putOff.map(({ reason }) => reason.replace(/\.$/, "")))];
  return (
    `The text of ${ids.length === 1 ? "one paper" : `${ids.length} papers`} is not available now (${ids.slice(0, 3).join(", ")}${ids.length > 3 ? ", …" : ""}): ${reasons.slice(0, 3).join("; ")}. ` +
    `Run again later to read ${ids.length === 1 ? "it" : "them"} in full; if a host is gone permanently, set the paper's pdf_url in rrd.json to a file on this machine`
  );
}

function nothingFound({ rrd }: ResearchState, folder: string): Verdict {
  const { criteria, screening } = eligibilityReport(rrd);
  const excluded = screening.reduce((sum, { count }) => sum + count, 0);
  if (criteria.length > 0 && excluded > 0)
    return blocked(
      `The eligibility criteria excluded ${excluded === 1 ? "the one record" : `all ${excluded} records`} that ${excluded === 1 ? "was" : "were"} screened (${screening.map(({ reason, count }) => `${reason}: ${count}`).join(", ")}); correct requirements.criteria in rrd.json, then 'research-ralph reset ${shellWord(folder)} --unit discovery' screens again`,
    );
  const reasons = Object.entries(rrd.statistics?.discovery_metrics?.source_failure_reasons ?? {}).map(
    ([name, why]) => `${name}: ${String(why)}`,
  );
  const untried = untriedSources(rrd);
  const why = [...reasons, ...(untried.length > 0 ? [`never tried: ${untried.join(", ")}`] : [])].join("; ");
  return blocked(
    `No source brought a paper (${why === "" ? "nothing matched the keywords" : why}); correct the sources or keywords in rrd.json, then 'research-ralph reset ${shellWord(folder)} --unit discovery' searches again`,
  );
}

/** What kind of unit has this id. */
export function unitNamed({ papers_pool }: Rrd, id: string): Pick<ResearchUnit, "kind" | "id"> {
  if (papers_pool.some((paper) => paper.id === id)) return { kind: "paper", id };
  return { kind: id === "report" || id === "ideas" ? id : "discovery", id };
}
