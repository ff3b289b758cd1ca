import { buildText } from "../../../engine/documents/text/paper-text.js";
import type { Paper } from "../../generated/rrd.js";
import { isRetracted } from "../analysis/retracted-paper.js";
import { repairFor } from "../analysis/repair.js";
import { nextBatch } from "../discovery/screening-batch.js";
import { flagged, materialOf } from "../prepare.js";
import { type KeptLibrary, paperOf, type ResearchState, type ResearchUnit } from "../derived/state.js";
import { timesTooFull } from "../decisions/status.js";
import { papersToCheck } from "../report/warn-of-retractions.js";
import type { Workspaces } from "../workspace.js";
import type { Material } from "./material.js";

/** What a unit's brief can be made from without asking anybody. */
export interface KeptMaterial {
  readonly material: Material;
  /** What a run would do before it wrote this brief, a sentence each. */
  readonly first: readonly string[];
}

const notYet = "(The full text of the paper goes here. It is fetched when the paper's turn comes.)";

/** Reads off the disk what earlier preparations have left for a unit. Asks nobody and writes nothing. */
export async function keptMaterial(
  library: KeptLibrary,
  workspaces: Pick<Workspaces, "kept">,
  state: ResearchState,
  unit: ResearchUnit,
): Promise<KeptMaterial> {
  const { rrd } = state;
  const paper = unit.kind === "paper" ? paperOf(rrd, unit.id) : undefined;
  if (unit.kind === "discovery") return await keptBatch(library, state, unit);
  if (unit.kind === "report") {
    const papers = papersToCheck(rrd);
    if (papers.length === 0) return { material: {}, first: [] };
    const { checks, asks } = await library.updates(papers);
    return { material: { retraction: { checks } }, first: asking(asks) };
  }
  return paper === undefined ? { material: {}, first: [] } : await keptPaper(library, workspaces, state, unit, paper);
}

async function keptBatch(library: KeptLibrary, state: ResearchState, unit: ResearchUnit): Promise<KeptMaterial> {
  let searched: readonly string[] = [];
  const search: Parameters<typeof nextBatch>[1]["search"] = async (rrd, services) => {
    const { session, asks } = await library.search(rrd, services);
    searched = asks;
    return session;
  };
  const batch = await nextBatch(state.rrd, { ...library, search }, timesTooFull(state.ledger, unit.id));
  let asks: readonly string[] = [];
  const checked = await flagged(batch, async (papers) => {
    const kept = await library.updates(papers);
    asks = kept.asks;
    return kept.checks;
  });
  const first =
    searched.length === 0
      ? []
      : [`A run would search ${searched.join(", ")} first; these candidates are those found so far.`];
  return { material: { batch: checked }, first: [...first, ...asking(asks)] };
}

async function keptPaper(
  library: KeptLibrary,
  workspaces: Pick<Workspaces, "kept">,
  state: ResearchState,
  unit: ResearchUnit,
  paper: Paper,
): Promise<KeptMaterial> {
  const { checks, asks: toCheck } = await library.updates([paper]);
  const check = checks.get(paper.id);
  const retracted = isRetracted(paper, check)
    ? ["A run would reject this paper without an agent, because it is retracted."]
    : [];
  const answer = await library.text(paper);
  const text = materialOf(answer ?? { text: buildText([{ text: notYet }], { kind: "markdown", depth: "full" }) });
  const read = check === undefined ? text : { ...text, check };
  const fetched =
    answer === undefined ? ["A run would fetch the paper's full text first; here a line replaces it."] : [];
  if ((await repairFor(workspaces, state, unit, read.text)) !== undefined)
    return { material: read, first: [...retracted, ...fetched, ...asking(toCheck)] };
  const { about, asks } = await library.about(paper);
  return {
    material: about === undefined ? read : { ...read, about },
    first: [...retracted, ...fetched, ...asking([...new Set([...toCheck, ...asks])])],
  };
}

const asking = (services: readonly string[]): string[] =>
  services.length === 0
    ? []
    : [`A run would ask ${services.join(", ")} about the papers first; their answers are missing here.`];
