import { hasIdentifier, identifierOf } from "../papers/identifiers.js";
import type { Paper } from "../generated/rrd.js";
import type { Identifiers, PaperRecord } from "../papers/paper-record.js";
import { allSources } from "../sources/registry.js";
import { parseReference } from "../papers/reference.js";
import type { Answer } from "../sources/shared/source.js";
import { isProblem, type Problem, inQuotes } from "../../engine/tools/tool.js";
import { paperOfCall } from "./which-paper.js";
import { type Network, type ToolContext, withTimeout } from "./context.js";

/**
 * The project's paper with this id. If it does not exist and sources may be queried, the work with this arXiv id or
 * DOI.
 */
export async function workOfCall(
  id: string | undefined,
  context: ToolContext,
  signal: AbortSignal,
): Promise<Paper | PaperRecord | Problem> {
  const paper = await paperOfCall(id, context);
  const identifiers =
    id === undefined || context.network === undefined || context.paper !== undefined ? undefined : identifiersIn(id);
  if (!isProblem(paper) || identifiers === undefined || context.network === undefined) return paper;
  const deadline = new AbortController();
  const anySignal = AbortSignal.any([signal, deadline.signal]);
  // One deadline for all sources: the caller waits at most a minute.
  const answer = await withTimeout(lookUp(identifiers, context.network, anySignal), "The look-up", signal);
  deadline.abort();
  if (answer.status === "ok") return answer.value;
  if (answer.status === "empty") return { problem: `No source knows ${inQuotes(id ?? "")}.` };
  return { problem: `${inQuotes(id ?? "")} could not be looked up: ${answer.reason}` };
}

/**
 * The work from the first source that knows it. The sources are queried one after the other until `signal` is aborted.
 */
async function lookUp(work: Identifiers, { contextFor }: Network, signal: AbortSignal): Promise<Answer<PaperRecord>> {
  const reasons: string[] = [];
  for (const source of allSources) {
    const context = contextFor(source);
    if (source.lookup === undefined || "unavailable" in context) continue;
    const answer = await source.lookup([work], context);
    const [record] = answer.status === "ok" ? answer.value : [];
    if (record !== undefined) return { status: "ok", value: record };
    if (answer.status !== "ok" && answer.status !== "empty") reasons.push(answer.reason);
    if (signal.aborted) break;
  }
  return reasons.length === 0
    ? { status: "empty", reason: "No source knows it." }
    : { status: "error", reason: reasons.slice(0, 3).join(" ") };
}

/** The identifiers in an id such as arxiv_2401.12345 or 10.1000/x. */
function identifiersIn(id: string): Identifiers | undefined {
  const reference = parseReference(id.replace(/^arxiv_/i, "arxiv:").replace(/^doi_([\d.]+)_/i, "$1/"));
  return hasIdentifier(reference) ? identifierOf(reference) : undefined;
}
