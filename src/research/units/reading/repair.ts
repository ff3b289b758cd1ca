import { isObject } from "../../../engine/lib/json-fields.js";
import { clip, fit } from "../../../engine/lib/tokens.js";
import type { KeptFields } from "../../../engine/storage/result-file.js";
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

const maxPassageTokens = 650;

/** The parts of a short repair without the paper; undefined if the agent needs the paper. */
export async function readingRepair({
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
  // The result has all required fields, so it has this type.
  const reading = value as AnalysisResult;
  // If a hook refused the result, the repair may need the paper.
  const hasKnownCause = problems.length > 0 || reading.unit !== unit.id;
  // If the read depth differs, the result was made from another text.
  if (!hasKnownCause || refusal.read_depth !== (excerptOf(text, contextOverflows)?.depth ?? "abstract"))
    return undefined;
  if (usesScores(rrd) && typeof scoresIn(rrd, reading) === "string") return undefined;
  const evidence = await recheckedEvidence(reading, text, paper);
  if (evidence === undefined) return undefined;
  const pointers = problems.map(({ pointer }) => pointer);
  // Corrections of answers to criteria and of field values need the paper.
  if (pointers.some((pointer) => isWithin(pointer, "/criteria") || isWithin(pointer, "/fields"))) return undefined;
  const { unit: _, evidence: __, ...fields } = reading;
  return { passages: passagesOf(evidence), kept: acceptedFields(fields, pointers, "") };
}

const isWithin = (pointer: string, parentPointer: string): boolean => `${pointer}/`.startsWith(`${parentPointer}/`);

/**
 * The fields without a problem, also within objects: if one score is wrong, the others stay accepted. A list with a
 * problem is omitted as a whole.
 */
function acceptedFields(value: object, pointers: readonly string[], parentPointer: string): KeptFields {
  const accepted: [string, unknown][] = [];
  for (const [field, content] of Object.entries(value)) {
    const pointerTo = `${parentPointer}/${field}`;
    if (!pointers.some((pointer) => isWithin(pointer, pointerTo))) accepted.push([field, content]);
    else if (isObject(content) && !pointers.includes(pointerTo))
      accepted.push([field, acceptedFields(content, pointers, pointerTo)]);
  }
  return new Map(accepted);
}

/** The check of a refused reading's quotes; undefined if too few were found for a repair of the others. */
async function recheckedEvidence(
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
  return passages.slice(0, fit(passages, maxPassageTokens, (passage) => JSON.stringify(passage)).lines.length);
}
