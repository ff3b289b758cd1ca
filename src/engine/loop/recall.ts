import { mostSummary } from "./history/summarise.js";
import { type LoopMemory, sinceSummary } from "./record/memory.js";
import { remediationFor } from "./guards/remediation.js";
import type { Notes } from "./types.js";

/** Iterations since the last summary that a brief tells of, one line each. */
const mostLines = 5;
const mostLine = 200;
/** Most characters of a person's words in a brief; of more, the latest. */
const mostSteering = 1_600;

/** What the next brief is told of earlier iterations. Its size does not grow with them. */
export function recall(memory: LoopMemory | undefined): Pick<Notes, "history" | "remediation" | "steering"> {
  if (memory === undefined) return {};
  const history = historyNote(memory);
  const remediation = remediationFor(memory.observations);
  const steering = steeringNote(memory);
  return {
    ...(history === "" ? {} : { history }),
    ...(remediation === undefined ? {} : { remediation }),
    ...(steering === "" ? {} : { steering }),
  };
}

function historyNote({ historySummary = "", metrics, observations }: LoopMemory): string {
  const since = sinceSummary({ observations, metrics }).slice(-mostLines);
  const lines = since.map(({ iteration, unit, outcome, said = "" }) => `- #${iteration} ${unit} ${outcome}: ${said}`.slice(0, mostLine));
  return [historySummary.slice(0, mostSummary), ...lines].filter((part) => part !== "").join("\n");
}

function steeringNote({ steering }: LoopMemory): string {
  const kept: string[] = [];
  let used = 0;
  for (const { text } of steering.toReversed()) {
    used += text.length + 3;
    if (used > mostSteering) break;
    kept.unshift(`- ${text}`);
  }
  return kept.join("\n");
}
