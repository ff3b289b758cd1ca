import { clippedPassage } from "../../../text/evidence/quoted.js";
import type { Answer } from "../../generated/rrd.js";

/** The passage of an answer, to follow it: ", We studied “children” alone."; empty if it is unclear or has no quote. */
export function evidenceText(answer: Answer): string {
  const words = answer.answer === "unclear" ? "" : clippedPassage(answer, maxPassageTokens).replace(/\s+/g, " ");
  return words === "" ? "" : `, ${words}`;
}

/** Maximum tokens of a passage in a sentence about a paper. */
const maxPassageTokens = 120;

/** An answer as text: 'c2: yes, We studied “children” alone. (abstract)'. */
export function answerText(answerOfPaper: Answer): string {
  const { criterion, answer, locator, said, reason } = answerOfPaper;
  const words = evidenceText(answerOfPaper);
  const locatorText = locator == null ? "" : ` (${locator})`;
  const claimText = said === undefined ? "" : `; the agent said ${said}`;
  return `${criterion}: ${answer}${words}${locatorText}${claimText}${reason === undefined ? "" : `. ${reason}`}`;
}
