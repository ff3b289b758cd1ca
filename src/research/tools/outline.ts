import { clip, estimateTokens } from "../../engine/lib/tokens.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import { isProblem, parametersOf } from "../../engine/tools/tool.js";
import { idParameter, textOfCall } from "./which-paper.js";
import type { ResearchTool } from "./context.js";

const maxLines = 120;

export const outline: ResearchTool = {
  name: "outline",
  description: "Sections or pages of a paper, with their size in tokens.",
  effects: ["reads"],
  parameters: parametersOf({ id: idParameter }),
  async run({ id }, context) {
    const text = await textOfCall(id, context);
    if (isProblem(text)) return text;
    const tokens = estimateTokens(text.text);
    const depth =
      text.depth === "full" ? "" : text.depth === "partial" ? ", not the whole of it" : ", only a page about the paper";
    if (text.marks.length === 0)
      return { head: `${tokens} tokens${depth}, without sections; read_section reads it from the top.` };
    const lines = outlineLines(text);
    const omittedCount = text.marks.length - lines.length;
    return {
      head: `${tokens} tokens${depth}.${omittedCount > 0 ? ` ${omittedCount} of ${text.marks.length} entries are left out; their sizes count to the entry before.` : ""}`,
      data: lines.join("\n"),
    };
  },
};

/**
 * One line per mark, such as "§ 3 Method (1200)"; the line of a page also has its first words. If there are too many
 * marks, they are thinned out evenly.
 */
function outlineLines({ text, marks }: Pick<DocumentText, "text" | "marks">): string[] {
  const step = Math.ceil(marks.length / maxLines);
  const shownMarks = marks.filter((_, index) => index % step === 0);
  return shownMarks.map((mark, index) => {
    const part = text.slice(mark.at, shownMarks[index + 1]?.at ?? text.length);
    const isPage = /^p\. \d+$/.test(mark.label);
    const words = isPage ? ` ${clip(part.replace(/^\[p\. \d+\]\s*/, "").split("\n")[0] ?? "", 12)}` : "";
    return `${clip(mark.label.replace(/\s+/g, " "), 24)} (${estimateTokens(part)})${words}`;
  });
}
