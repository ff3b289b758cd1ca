import { parametersOf } from "../../engine/tools/tool.js";
import type { ResearchTool } from "./context.js";

export const checkAnswer: ResearchTool = {
  name: "check_answer",
  description:
    'Whether each statement of an answer rests on quotes that stand in the papers. `answer`: {"quotes": [{"id": "q1", "paper": "its id", "quote": "copied words"}], "statements": [{"text": "…", "rests_on": ["<paper>#q1", "<paper>#2"]}]}',
  effects: ["reads"],
  parameters: parametersOf({ query: { type: "string", description: "The question." }, answer: { type: "object" } }, [
    "query",
    "answer",
  ]),
  async run({ query = "", answer }, { asked }) {
    if (asked === undefined) return { problem: "Only the paper of this unit can be read; use find_quote." };
    const checked = await asked.check(query, answer);
    return "problem" in checked ? checked : { head: checked.head, data: checked.lines.join("\n") };
  },
};
