import { isObject } from "../../../engine/lib/json-fields.js";
import { schemaOf } from "../../units/judged-result.js";
import { join } from "node:path";
import type { CheckedReading } from "../../../text/evidence/check-evidence.js";
import { searchUntrusted } from "../../full-text/reader-process.js";
import type { DocumentText } from "../../../text/documents/text/document-text.js";
import { clip, estimateTokens, fit } from "../../../engine/lib/tokens.js";
import type { AnalysisResult } from "../../generated/result-analysis.js";
import type { Paper } from "../../generated/rrd.js";
import { usesBothRubrics } from "../../papers/rubric/rubric.js";
import { paperOf, refusalsOf, type ResearchState, type ResearchUnit } from "../../derived/status.js";
import { checkedResult, type Kept, readResult } from "../../../engine/storage/result-file.js";
import { resultName } from "../../../engine/lib/layout.js";

/** What a short repair brief says of a refused result, so that the paper need not be read again. */
export interface Repair {
  readonly reasons: readonly string[];
  /** The refused result, as JSON. */
  readonly previous: string;
  /** For quotes that were not found: why, and the passage of the text that comes nearest. */
  readonly passages: readonly { readonly quote: string; readonly why: string; readonly nearest: string }[];
}

/**
 * The repair that a brief asks for, and what the agent has no say in: fields of the refused reading that nobody found
 * fault with.
 */
interface AskedRepair {
  readonly repair: Repair;
  readonly kept: Kept;
}

/** Together with the rubric and the unit these stay below the brief's 6,000. */
const tokens = { previous: 1_800, reasons: 350, passages: 650 };

/**
 * The repair that a unit's next brief asks for: the first refusal is answered by one, where all that is wrong can be
 * mended without the paper; anything else, a refused repair too, by the whole brief once more. `workspaceOf`: where a
 * refused iteration's result was kept.
 * `depth`: how much of the paper the whole brief would show; a reading of another depth is not of this text.
 */
export async function repairFor(
  workspaceOf: (iteration: number) => string,
  state: ResearchState,
  unit: ResearchUnit,
  text: DocumentText | undefined,
  depth: DocumentText["depth"],
): Promise<AskedRepair | undefined> {
  const [first, ...others] = refusalsOf(state, unit);
  if (first === undefined || others.length > 0) return undefined;
  const result = await readResult(join(workspaceOf(first.iteration), resultName));
  if ("reason" in result) return undefined;
  const { value, problems } = checkedResult(schemaOf[unit.kind], result.value);
  // As a text: indented like the rest of the unit it would be a third longer.
  const previous = JSON.stringify(value);
  if (problems.some(({ missing }) => missing === true) || estimateTokens(previous) > tokens.previous) return undefined;
  const reasons = fit(first.reasons, tokens.reasons, (reason) => clip(reason, 60)).lines;
  const paper = unit.kind === "paper" ? paperOf(state.rrd, unit.id) : undefined;
  if (paper === undefined) return { repair: { reasons, previous, passages: [] }, kept: new Map() };

  // The schema's problems are not of these: every required field is there.
  const reading = value as AnalysisResult;
  // Whatever a hook objects to, it may take the paper to mend it.
  const isKnown = problems.length > 0 || reading.unit !== unit.id;
  if (!isKnown || first.read_depth !== depth) return undefined;
  if (usesBothRubrics(state.rrd) && reading.scores?.blue_ocean === undefined) return undefined;
  const evidence = await evidenceOf(reading, text, paper);
  if (evidence === undefined) return undefined;
  const pointers = problems.map(({ pointer }) => pointer);
  // Answers to criteria take the paper to mend them.
  if (pointers.some((pointer) => isWithin(pointer, "/criteria"))) return undefined;
  const { unit: _, evidence: __, ...fields } = reading;
  return { repair: { reasons, previous, passages: passagesOf(evidence) }, kept: withoutFault(fields, pointers, "") };
}

const isWithin = (pointer: string, place: string): boolean => `${pointer}/`.startsWith(`${place}/`);

/**
 * The fields that nobody found fault with, within objects as well: one wrong score leaves the others no say. A list
 * with a fault is left out whole.
 */
function withoutFault(value: object, pointers: readonly string[], place: string): Kept {
  const kept: [string, unknown][] = [];
  for (const [field, held] of Object.entries(value)) {
    const at = `${place}/${field}`;
    if (!pointers.some((pointer) => isWithin(pointer, at))) kept.push([field, held]);
    else if (isObject(held) && !pointers.includes(at)) kept.push([field, withoutFault(held, pointers, at)]);
  }
  return new Map(kept);
}

/** The check of a refused reading's quotes; undefined where too few were found for a repair of some. */
async function evidenceOf(
  { evidence }: AnalysisResult,
  text: DocumentText | undefined,
  { abstract }: Paper,
): Promise<CheckedReading | undefined> {
  const quoted = (Array.isArray(evidence) ? evidence : []).filter(
    (item) => typeof item?.quote === "string" && typeof item.claim === "string",
  );
  const search = await searchUntrusted("checkReading", quoted, "", text, abstract);
  if ("cut" in search) return undefined;
  return (search.value.verified + search.value.near) * 2 >= quoted.length ? search.value : undefined;
}

function passagesOf({ missing }: CheckedReading): Repair["passages"] {
  const passages = missing.map(({ quote, nearest, why }) => ({
    quote: clip(quote, 25),
    why: clip(why, 50),
    nearest: clip(nearest, 90),
  }));
  return passages.slice(0, fit(passages, tokens.passages, (passage) => JSON.stringify(passage)).lines.length);
}
