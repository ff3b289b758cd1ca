import type { QuoteMatch } from "../../text/evidence/find-quote.js";
import { searchUntrusted } from "../full-text/reader-process.js";
import { isProblem, parametersOf } from "../../engine/tools/tool.js";
import { idParameter, textOfCall } from "./which-paper.js";
import type { ResearchTool } from "./context.js";

export const findQuote: ResearchTool = {
  name: "find_quote",
  description: "Whether a paper has these words, where, and the sentence they stand in; else the nearest passage.",
  effects: ["reads"],
  parameters: parametersOf({ quote: { type: "string" }, id: idParameter }, ["quote"]),
  async run({ id, quote = "" }, context) {
    const text = await textOfCall(id, context);
    if (isProblem(text)) return text;
    const search = await searchUntrusted("findQuotes", text, [quote]);
    if ("cut" in search) return { problem: `It could not be looked for: ${search.cut}.` };
    const [match] = search.value;
    if (match === undefined) return { head: "Not in the text." };
    if (match.found) {
      const { start, locator } = match;
      const { passageFields, passageText } = await import("../../text/evidence/quoted.js");
      return {
        head: `Found at "@${start}"${match.isCited === true ? ", in the list of references, which is not evidence" : ""}. The fence holds its locator and its sentence, the words between “ and ”.`,
        data: `${locator ?? "no locator"}: ${passageText(passageFields(match))}`,
      };
    }
    const problem = problemOf(match);
    if (match.nearest === "") return { head: `${problem} Nothing in the text is like it.` };
    return { head: `${problem} The nearest passage:`, data: match.nearest };
  },
};

function problemOf(match: Extract<QuoteMatch, { found: false }>): string {
  if (match.tooShort === true)
    return "Too short to be evidence: a quote has at least four words, or eight letters of a script without spaces.";
  if (match.near !== undefined) return `Near, which is not proof: ${match.near.differs}.`;
  return match.why === undefined ? "Not in the text." : `Not so in the text: ${match.why}.`;
}
