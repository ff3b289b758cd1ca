import { type LoopKind, rowOf } from "./loop-detection.js";
import type { Observation } from "../../generated/memory.js";

/** What to do otherwise, for each kind of loop. Told to the agent of the next iteration, who knows nothing of the earlier ones. */
const remedies: Readonly<Record<LoopKind, string>> = {
  "identical-answers":
    "Every one of them left the same answer, and it was not accepted. Do not write that answer again. Start from the unit below, not from memory: go through each of the reasons, change exactly the fields they name, and check that your result differs there before you give it.",
  oscillation:
    "They went back and forth between two answers, each mending what the other had and breaking what it mended. Write down for yourself what both answers were refused for, then leave one result that satisfies both lists at once; where the two can't both be met, keep the fields the schema requires and leave the optional ones out.",
  "redundant-writes":
    "They wrote the same file over and over. Write no file: put the whole result together, give its JSON as your final message, the object alone, and end. A result with gaps that says so in `notes` serves better than another version of it.",
  "read-loop":
    "They kept reading and left no result. Open each file at most once, note what you need as you go, and when the last one is read give the JSON as your final message at once with what you have. If a file can't be read, say so in the result and go on without it.",
  "planning-loop":
    "They announced what they would do and ended before doing it. Make no plan and ask nothing: nobody answers. Your next message is the JSON object in the form the brief asks for, and nothing else; any other message counts for nothing.",
  "command-loop":
    "They ran the same command again and again and left no result. What a command said once it will say again: do not repeat one that failed or brought nothing new. Use another way, or do without it, and give the JSON as your final message.",
};

/** What the next brief says when the last two or more iterations went round in circles; undefined when they did not. At most 600 characters. */
export function remediationFor(observations: readonly Observation[]): string | undefined {
  const row = rowOf(observations);
  if (row === undefined) return undefined;
  const times = row.kind === "oscillation" ? row.length * 2 : row.length;
  return `The last ${times} iterations got nowhere (${row.kind}). ${remedies[row.kind]}`;
}
