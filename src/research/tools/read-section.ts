import { passageOf } from "./passage.js";
import { isProblem, inQuotes, parametersOf } from "../../engine/tools/tool.js";
import { idParameter, textOfCall } from "./which-paper.js";
import type { ResearchTool } from "./context.js";

export const readSection: ResearchTool = {
  name: "read_section",
  description: "Text of a paper, up to 5000 tokens a call.",
  effects: ["reads"],
  parameters: parametersOf({
    id: idParameter,
    section: { type: "string", description: "from outline, or `next` of the last answer; omit to start at the top" },
  }),
  async run({ id, section }, context) {
    const text = await textOfCall(id, context);
    if (isProblem(text)) return text;
    const passage = passageOf(text, section);
    if (passage === undefined)
      return { problem: `The text has no section ${inQuotes(section ?? "")}; outline lists them.` };
    const { start, end, next } = passage;
    const position = next === undefined ? "end of the text" : `next: "@${next}"`;
    return {
      head: `Characters ${start} to ${end} of ${text.text.length}; ${position}.`,
      data: text.text.slice(start, end),
    };
  },
};
