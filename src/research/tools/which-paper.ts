import type { Paper } from "../generated/rrd.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import { isProblem, type Problem, inQuotes, wrongCall } from "../../engine/tools/tool.js";
import type { ToolContext } from "./context.js";

/** Parameter of every tool that works on one paper. */
export const idParameter = { type: "string" } as const;

/** The paper of a call: the one that it names, else the paper of the context, else the project's only paper. */
export async function paperOfCall(id: string | undefined, context: ToolContext): Promise<Paper | Problem> {
  const requestedId = id ?? context.paper;
  const papers = await context.papers();
  if (requestedId === undefined) {
    const [only, second] = papers;
    if (only !== undefined && second === undefined) return only;
    return wrongCall("Say which paper: `id` is missing.");
  }
  if (context.paper !== undefined && requestedId !== context.paper)
    return wrongCall("Only the paper of this unit can be read; leave `id` out.");
  const paper = papers.find((each) => each.id === requestedId) ?? papers.find(({ key }) => key === requestedId);
  if (paper !== undefined) return paper;
  // Ids in the pool come from outside. An id with other characters could contain text that looks like part of this
  // message.
  const nearestId = nearestCandidate(
    requestedId.slice(0, 100),
    papers.map((each) => each.id).filter((each) => /^[\w.:/-]{1,80}$/.test(each)),
  );
  return wrongCall(
    `There is no paper ${inQuotes(requestedId)} in this project${nearestId === undefined ? "." : `; the nearest id is ${nearestId}.`}`,
  );
}

/** The text of the paper of a call. */
export async function textOfCall(id: string | undefined, context: ToolContext): Promise<DocumentText | Problem> {
  const paper = await paperOfCall(id, context);
  if (isProblem(paper)) return paper;
  const text = await context.text(paper.id);
  return (
    text ?? {
      problem: `No text of ${inQuotes(paper.id)} is kept; it is fetched when the paper's turn comes. paper_details has its abstract.`,
    }
  );
}
