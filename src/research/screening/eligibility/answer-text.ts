import { clippedPassage } from "../../../text/evidence/quoted.js";
import type { Answer } from "../../generated/rrd.js";

/** What an answer rests on, behind it: ", We studied “children” alone."; empty where it is unclear or has no quote. */
export function groundText(answer: Answer): string {
  const words = answer.answer === "unclear" ? "" : clippedPassage(answer, maxGround).replace(/\s+/g, " ");
  return words === "" ? "" : `, ${words}`;
}

/** Tokens of a passage in a sentence about a paper. */
const maxGround = 120;

/** An answer in words: 'c2: yes, We studied “children” alone. (abstract)'. */
export function answerText(answerOfPaper: Answer): string {
  const { criterion, answer, locator, said, reason } = answerOfPaper;
  const words = groundText(answerOfPaper);
  const where = locator == null ? "" : ` (${locator})`;
  const claimed = said === undefined ? "" : `; the agent said ${said}`;
  return `${criterion}: ${answer}${words}${where}${claimed}${reason === undefined ? "" : `. ${reason}`}`;
}
