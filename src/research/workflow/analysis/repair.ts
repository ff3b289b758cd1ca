import { join } from "node:path";
import { checkEvidence } from "../../evidence/check.js";
import type { PaperText } from "../../../engine/documents/text/paper-text.js";
import { clip, estimateTokens, fit } from "../../../engine/lib/tokens.js";
import { readResult } from "../result/result-file.js";
import { resultName } from "../../folder/layout.js";
import { refusalsOf, type ResearchState, type ResearchUnit } from "../derived/state.js";
import type { Workspaces } from "../workspace.js";

/** What a short repair brief says of a refused result, so that the paper need not be read again. */
export interface Repair {
  readonly reasons: readonly string[];
  /** The refused result, as JSON. */
  readonly previous: string;
  /** For quotes that were not found: why, and the passage of the text that comes nearest. */
  readonly passages: readonly { readonly quote: string; readonly why: string; readonly nearest: string }[];
}

/** Together with the rubric and the unit these stay below the brief's 6,000. */
const tokens = { previous: 1_800, reasons: 350, passages: 650 };

/** The repair that a unit's next brief asks for. The first refusal is answered by one; a refused repair by the whole brief once more. */
export async function repairFor(
  workspaces: Pick<Workspaces, "kept">,
  state: ResearchState,
  unit: ResearchUnit,
  text: PaperText | undefined,
): Promise<Repair | undefined> {
  const [first, ...others] = refusalsOf(state, unit);
  if (first === undefined || others.length > 0) return undefined;
  return await repairOf(workspaces.kept(first.iteration), first.reasons, text);
}

/** Undefined where a repair can't help: the refused result is gone, was no JSON at all, or is too long to send back. */
export async function repairOf(
  workspace: string,
  reasons: readonly string[],
  text: PaperText | undefined,
): Promise<Repair | undefined> {
  const result = await readResult(join(workspace, resultName));
  if ("reason" in result || estimateTokens(JSON.stringify(result.value)) > tokens.previous) return undefined;
  // As a text: indented like the rest of the unit it would be a third longer.
  return {
    reasons: fit(reasons, tokens.reasons, (reason) => clip(reason, 60)).lines,
    previous: JSON.stringify(result.value),
    passages: passagesOf(result.value, text),
  };
}

function passagesOf(result: unknown, text: PaperText | undefined): Repair["passages"] {
  const items =
    typeof result === "object" && result !== null && "evidence" in result && Array.isArray(result.evidence)
      ? result.evidence
      : [];
  const quoted = items.filter(
    (item): item is { claim: string; quote: string } =>
      typeof item?.quote === "string" && typeof item?.claim === "string",
  );
  if (text === undefined) return [];
  const passages = checkEvidence(quoted, text).missing.map(({ quote, nearest, why }) => ({
    quote: clip(quote, 25),
    why: clip(why, 50),
    nearest: clip(nearest, 90),
  }));
  return passages.slice(0, fit(passages, tokens.passages, (passage) => JSON.stringify(passage)).lines.length);
}
