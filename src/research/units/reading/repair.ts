import { isObject } from "../../../engine/lib/json-fields.js";
import { clip, fit } from "../../../engine/lib/tokens.js";
import type { Kept } from "../../../engine/storage/result-file.js";
import type { CheckedReading } from "../../../text/evidence/check-evidence.js";
import type { DocumentText } from "../../../text/documents/text/document-text.js";
import { paperOf } from "../../derived/status.js";
import { searchUntrusted } from "../../full-text/reader-process.js";
import type { AnalysisResult } from "../../generated/result-analysis.js";
import type { Paper } from "../../generated/rrd.js";
import { usesScores } from "../../papers/rubric/rubric.js";
import type { RefusedResult, RepairParts } from "../unit-kind.js";
import { scoresIn } from "./judge-paper.js";
import { excerptOf } from "../paper-text/long-text.js";
import type { ReadingMaterial } from "./prepare.js";

const passageTokens = 650;

/** What mends a refused reading without the paper; undefined where it takes the paper. */
export async function repairOfReading({
  state: { rrd },
  unit,
  material: { text },
  value,
  problems,
  refusal,
  contextOverflows,
}: RefusedResult<ReadingMaterial>): Promise<RepairParts | undefined> {
  const paper = paperOf(rrd, unit.id);
  if (paper === undefined) return undefined;
  // The schema's problems are not of these: every required field is there.
  const reading = value as AnalysisResult;
  // Whatever a hook objects to, it may take the paper to mend it.
  const isKnown = problems.length > 0 || reading.unit !== unit.id;
  // A reading of another depth than the whole brief would show is not of this text.
  if (!isKnown || refusal.read_depth !== (excerptOf(text, contextOverflows)?.depth ?? "abstract")) return undefined;
  if (usesScores(rrd) && typeof scoresIn(rrd, reading) === "string") return undefined;
  const evidence = await evidenceOf(reading, text, paper);
  if (evidence === undefined) return undefined;
  const pointers = problems.map(({ pointer }) => pointer);
  // Answers to criteria and values of fields take the paper to mend them.
  if (pointers.some((pointer) => isWithin(pointer, "/criteria") || isWithin(pointer, "/fields"))) return undefined;
  const { unit: _, evidence: __, ...fields } = reading;
  return { passages: passagesOf(evidence), kept: withoutFault(fields, pointers, "") };
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

function passagesOf({ missing }: CheckedReading): RepairParts["passages"] {
  const passages = missing.map(({ quote, nearest, why }) => ({
    quote: clip(quote, 25),
    why: clip(why, 50),
    nearest: clip(nearest, 90),
  }));
  return passages.slice(0, fit(passages, passageTokens, (passage) => JSON.stringify(passage)).lines.length);
}
