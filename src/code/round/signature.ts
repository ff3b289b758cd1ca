import { lexicalEmbedder } from "../../memory/embedder.js";
import { cosine } from "../../memory/vectors.js";
import type { TestResult } from "../../task/generated/test-results.js";

/** Maximum characters of a signature. */
const maxSignatureChars = 300;

/**
 * The signature of an error, without parts that vary between runs: its type, its message without numbers, paths,
 * addresses and quoted values, and the file of the first frame in the project. Runs that fail for the same reason have
 * the same signature.
 */
export function signatureOf({ error }: Pick<TestResult, "error">): string {
  const message = withoutVaryingParts(
    (error?.message ?? "")
      .split("\n")
      .filter((line) => line.trim() !== "")
      .slice(0, 3)
      .join(" "),
  );
  const frame = error?.source_location?.file;
  return `${error?.type ?? "logic"}: ${message}${frame === undefined ? "" : ` @ ${frame}`}`.slice(0, maxSignatureChars);
}

/** The parts that are replaced, in this order, with their placeholders. All patterns take linear time. */
const varyingParts: readonly (readonly [RegExp, string])[] = [
  [/"[^"\n]{0,400}"|'[^'\n]{0,400}'|`[^`\n]{0,400}`/g, "<value>"],
  [/\b0x[0-9a-f]+\b/gi, "<address>"],
  [/(?:file:\/\/)?(?:\.{0,2}\/)[\w.@~+-]+(?:\/[\w.@~+-]+)*(?::\d+)*/g, "<path>"],
  [/\b[0-9a-f]{8,}\b/gi, "<id>"],
  [/\d+(?:\.\d+)?/g, "<n>"],
  [/\s+/g, " "],
];

const withoutVaryingParts = (text: string): string =>
  varyingParts.reduce((remaining, [pattern, placeholder]) => remaining.replace(pattern, placeholder), text).trim();

/** Minimum cosine of two signatures that count as similar. */
const minCosine = 0.85;

/** Whether each signature of one list has an equal or similar one in the other list, in both directions. */
export async function areSame(signatures: readonly string[], otherSignatures: readonly string[]): Promise<boolean> {
  if (signatures.length === 0 || otherSignatures.length === 0) return false;
  const [signatureVectors, otherVectors] = [
    await lexicalEmbedder.embed(signatures),
    await lexicalEmbedder.embed(otherSignatures),
  ];
  const hasSimilar = (vector: Float32Array, vectors: readonly Float32Array[]) =>
    vectors.some((other) => cosine(vector, other) >= minCosine);
  const [signatureSet, otherSet] = [new Set(signatures), new Set(otherSignatures)];
  return (
    signatures.every(
      (signature, index) =>
        otherSet.has(signature) || hasSimilar(signatureVectors[index] ?? new Float32Array(), otherVectors),
    ) &&
    otherSignatures.every(
      (signature, index) =>
        signatureSet.has(signature) || hasSimilar(otherVectors[index] ?? new Float32Array(), signatureVectors),
    )
  );
}
