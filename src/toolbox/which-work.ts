import type { Paper } from "../generated/rrd.js";
import type { Identifiers, PaperRecord } from "../sources/paper-record.js";
import { allSources } from "../sources/registry.js";
import { parseReference } from "../sources/reference.js";
import { inTime } from "./in-time.js";
import { isProblem, type Problem, quoted, type Shelf } from "./tool.js";
import { whichPaper } from "./which-paper.js";

/** A paper of the research, else, where the sources may be asked, the work that an arXiv id or a DOI names. */
export async function whichWork(id: string | undefined, shelf: Shelf, signal: AbortSignal): Promise<Paper | PaperRecord | Problem> {
  const paper = await whichPaper(id, shelf);
  const named = id === undefined || shelf.network === undefined || shelf.paper !== undefined ? undefined : identifiersIn(id);
  if (!isProblem(paper) || named === undefined || shelf.network === undefined) return paper;
  const reasons: string[] = [];
  for (const source of allSources) {
    const context = shelf.network.contextFor(source);
    if (source.lookup === undefined || "unavailable" in context) continue;
    const answer = await inTime(source.lookup([named], context), source.name, signal);
    const [work] = answer.status === "ok" ? answer.value : [];
    if (work !== undefined) return work;
    if (answer.status !== "ok" && answer.status !== "empty") reasons.push(answer.reason);
    if (signal.aborted) break;
  }
  if (reasons.length === 0) return { problem: `No source knows ${quoted(id ?? "")}.` };
  return { problem: `${quoted(id ?? "")} could not be looked up: ${reasons.slice(0, 3).join(" ")}` };
}

/** What an id such as arxiv_2401.12345 or 10.1000/x names. */
function identifiersIn(id: string): Identifiers | undefined {
  const reference = parseReference(id.replace(/^arxiv_/i, "arxiv:").replace(/^doi_([\d.]+)_/i, "$1/"));
  if (reference.kind === "arxiv") return { arxiv: reference.id };
  return reference.kind === "doi" ? { doi: reference.doi } : undefined;
}
