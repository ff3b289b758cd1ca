import type { Paper } from "../generated/rrd.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import { isProblem, type Problem, quoted, wrongCall } from "../../engine/tools/tool.js";
import type { ToolContext } from "./context.js";

/** Argument of every tool that is about one paper. */
export const idParameter = { type: "string" } as const;

/** The paper that a call means: the one it names, else the context's own, else the only one there is. */
export async function whichPaper(id: string | undefined, context: ToolContext): Promise<Paper | Problem> {
  const wanted = id ?? context.paper;
  const papers = await context.papers();
  if (wanted === undefined) {
    const [only, second] = papers;
    if (only !== undefined && second === undefined) return only;
    return wrongCall("Say which paper: `id` is missing.");
  }
  if (context.paper !== undefined && wanted !== context.paper)
    return wrongCall("Only the paper of this unit can be read; leave `id` out.");
  const paper = papers.find((each) => each.id === wanted) ?? papers.find(({ key }) => key === wanted);
  if (paper !== undefined) return paper;
  // An id of the pool comes from outside; words in it would pass for ours.
  const near = nearestCandidate(
    wanted.slice(0, 100),
    papers.map((each) => each.id).filter((each) => /^[\w.:/-]{1,80}$/.test(each)),
  );
  return wrongCall(
    `There is no paper ${quoted(wanted)} in this project${near === undefined ? "." : `; the nearest id is ${near}.`}`,
  );
}

/** The text of the paper that a call means. */
export async function textOf(id: string | undefined, context: ToolContext): Promise<DocumentText | Problem> {
  const paper = await whichPaper(id, context);
  if (isProblem(paper)) return paper;
  const text = await context.text(paper.id);
  return (
    text ?? {
      problem: `No text of ${quoted(paper.id)} is kept; it is fetched when the paper's turn comes. paper_details has its abstract.`,
    }
  );
}
