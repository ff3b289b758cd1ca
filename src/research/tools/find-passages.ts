import { parametersOf } from "../../engine/tools/tool.js";
import type { FoundPassage, ResearchTool } from "./context.js";

/** Number of passages if the call names none. */
const defaultPassages = 8;
const maxPassages = 20;

/**
 * A passage under its paper and position. A line of the paper that starts with @@ is changed, because it would look
 * like the start of another passage.
 */
export const passageText = ({ key, locator, text }: FoundPassage): string =>
  `@@ ${key} | ${locator ?? "beginning"}\n${text.replace(/^@@/gm, "@ @")}`;

export const findPassages: ResearchTool = {
  name: "find_passages",
  description: "Passages of all papers of the project that are nearest to a question or to words of yours.",
  effects: ["reads"],
  parameters: parametersOf({ query: { type: "string" }, most: { type: "integer" } }, ["query"]),
  async run({ query = "", most: requested = defaultPassages }, { asked }) {
    if (asked === undefined) return { problem: "Only the paper of this unit can be read; use read_section." };
    const passages = await asked.passages(query, Math.min(requested, maxPassages));
    if (passages.length === 0) return { head: "No passage shares a word with it." };
    const data = passages.map(passageText).join("\n\n");
    return { head: `${passages.length} passages, the nearest first, each behind its paper and place.`, data };
  },
};
