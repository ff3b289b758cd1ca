import type { Paper } from "../generated/rrd.js";
import type { Identifiers, PaperRecord } from "../papers/paper-record.js";
import { allSources } from "../sources/registry.js";
import { parseReference } from "../papers/reference.js";
import type { Answer } from "../sources/shared/source.js";
import { isProblem, type Problem, quoted } from "../../engine/tools/tool.js";
import { whichPaper } from "./which-paper.js";
import { type Network, type ToolContext, inTime } from "./context.js";

/** A paper of the project, else, where the sources may be asked, the work that an arXiv id or a DOI names. */
export async function whichWork(
  id: string | undefined,
  context: ToolContext,
  signal: AbortSignal,
): Promise<Paper | PaperRecord | Problem> {
  const paper = await whichPaper(id, context);
  const named =
    id === undefined || context.network === undefined || context.paper !== undefined ? undefined : identifiersIn(id);
  if (!isProblem(paper) || named === undefined || context.network === undefined) return paper;
  const over = new AbortController();
  const given = AbortSignal.any([signal, over.signal]);
  // One deadline over all: anyone who calls waits for a minute, however many sources there are.
  const answer = await inTime(lookUp(named, context.network, given), "The look-up", signal);
  over.abort();
  if (answer.status === "ok") return answer.value;
  if (answer.status === "empty") return { problem: `No source knows ${quoted(id ?? "")}.` };
  return { problem: `${quoted(id ?? "")} could not be looked up: ${answer.reason}` };
}

/** The work as the first source has it that knows it; they are asked one after the other, until `signal` is aborted. */
async function lookUp(work: Identifiers, { contextFor }: Network, signal: AbortSignal): Promise<Answer<PaperRecord>> {
  const reasons: string[] = [];
  for (const source of allSources) {
    const context = contextFor(source);
    if (source.lookup === undefined || "unavailable" in context) continue;
    const answer = await source.lookup([work], context);
    const [found] = answer.status === "ok" ? answer.value : [];
    if (found !== undefined) return { status: "ok", value: found };
    if (answer.status !== "ok" && answer.status !== "empty") reasons.push(answer.reason);
    if (signal.aborted) break;
  }
  return reasons.length === 0
    ? { status: "empty", reason: "No source knows it." }
    : { status: "error", reason: reasons.slice(0, 3).join(" ") };
}

/** What an id such as arxiv_2401.12345 or 10.1000/x names. */
function identifiersIn(id: string): Identifiers | undefined {
  const reference = parseReference(id.replace(/^arxiv_/i, "arxiv:").replace(/^doi_([\d.]+)_/i, "$1/"));
  if (reference.kind === "arxiv") return { arxiv: reference.id };
  if (reference.kind === "pmid") return { pmid: reference.pmid };
  if (reference.kind === "pmcid") return { pmcid: reference.pmcid };
  return reference.kind === "doi" ? { doi: reference.doi } : undefined;
}
