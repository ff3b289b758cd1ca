import { join } from "node:path";
import { checkEvidence } from "../../evidence/check.js";
import type { PaperText } from "../../sources/text.js";
import { clip, estimateTokens } from "../../lib/tokens.js";
import { readResult } from "./result-file.js";

/** What a short repair brief says of a refused result, so that the paper need not be read again. */
export interface Repair {
  readonly reasons: readonly string[];
  /** The refused result; null where it was no JSON or too large to send back. */
  readonly previous: unknown;
  /** For quotes that were not found, the passage of the text that comes nearest. */
  readonly passages: readonly { readonly quote: string; readonly nearest: string }[];
}

const previousTokens = 3_500;

/** Undefined where a repair can't help: the refused result is gone, or was no JSON at all. */
export async function repairOf(workspace: string | null | undefined, reasons: readonly string[], text: PaperText | undefined): Promise<Repair | undefined> {
  if (workspace == null) return undefined;
  const result = await readResult(join(workspace, "result.json"));
  if ("reason" in result || estimateTokens(JSON.stringify(result.value)) > previousTokens) return undefined;
  return { reasons: reasons.slice(0, 12).map((reason) => clip(reason, 60)), previous: result.value, passages: passagesOf(result.value, text) };
}

function passagesOf(result: unknown, text: PaperText | undefined): Repair["passages"] {
  const items = typeof result === "object" && result !== null && "evidence" in result && Array.isArray(result.evidence) ? result.evidence : [];
  const quoted = items.filter((item): item is { claim: string; quote: string } => typeof item?.quote === "string" && typeof item?.claim === "string");
  if (text === undefined) return [];
  return checkEvidence(quoted, text)
    .missing.slice(0, 10)
    .map(({ quote, nearest }) => ({ quote: clip(quote, 30), nearest: clip(nearest, 90) }));
}
