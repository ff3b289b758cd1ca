import type { Paper } from "../../../src/research/generated/rrd.js";
import type { DocumentText } from "../../../src/text/documents/text/document-text.js";
import { buildText } from "../../../src/text/documents/text/document-text.js";
import { callTool, tools } from "../../../src/research/tools/all-tools.js";
import { paper } from "../../support/projects/research.js";
import type { ToolContext } from "../../../src/research/tools/context.js";

/** A text of numbered sections; every sentence of it is another. */
export function sectionedText(sections = 12, sentences = 200): DocumentText {
  const parts = Array.from({ length: sections }, (_, index) => {
    const label = `${index + 1} Section ${index + 1}`;
    const body = Array.from(
      { length: sentences },
      (__, each) => `In series ${index} sentence ${each} says ${(each * 37) % 101} things.`,
    );
    return { label: `§ ${label}`, text: `## ${label}\n\n${body.join(" ")}` };
  });
  return buildText(parts, { kind: "markdown", depth: "full" });
}

/** A context that holds these papers and texts in memory. */
export const shelfWith = (
  papers: readonly Paper[],
  texts: Readonly<Record<string, DocumentText>> = {},
  more: Partial<ToolContext> = {},
): ToolContext => ({ papers: async () => papers, checkers: async () => ({}), text: async (id) => texts[id], ...more });

export const onePaper = (text = sectionedText(), more: Partial<ToolContext> = {}): ToolContext =>
  shelfWith([paper("p1")], { p1: text }, more);

/** What a tool answers: its text, or `error: ` and the sentence. */
export async function call(name: string, given: unknown, context: ToolContext = onePaper()): Promise<string> {
  const answer = await callTool(tools, name, given, context, new AbortController().signal);
  return "problem" in answer ? `error: ${answer.problem}` : answer.text;
}

/** What stands in the fence of an answer. */
export const inFence = (answer: string): string =>
  /<untrusted-text [^>]*>\n([\s\S]*)\n<\/untrusted-text /.exec(answer)?.[1] ?? "";
