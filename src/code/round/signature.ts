import { lexical } from "../../memory/embedder.js";
import { cosine } from "../../memory/vectors.js";
import type { TestResult } from "../../task/generated/test-results.js";

/** Most characters of a signature. */
const maxSignature = 300;

/**
 * An error without what differs from run to run: its type, its message without numbers, paths, addresses and quoted
 * values, and the file of the top frame in the project. Two runs that fail for one reason have one signature.
 */
export function signatureOf({ error }: Pick<TestResult, "error">): string {
  const message = plain(
    (error?.message ?? "")
      .split("\n")
      .filter((line) => line.trim() !== "")
      .slice(0, 3)
      .join(" "),
  );
  const frame = error?.source_location?.file;
  return `${error?.type ?? "logic"}: ${message}${frame === undefined ? "" : ` @ ${frame}`}`.slice(0, maxSignature);
}

/** What is taken out, in this order. Every pattern is linear. */
const differing: readonly (readonly [RegExp, string])[] = [
  [/"[^"\n]{0,400}"|'[^'\n]{0,400}'|`[^`\n]{0,400}`/g, "<value>"],
  [/\b0x[0-9a-f]+\b/gi, "<address>"],
  [/(?:file:\/\/)?(?:\.{0,2}\/)[\w.@~+-]+(?:\/[\w.@~+-]+)*(?::\d+)*/g, "<path>"],
  [/\b[0-9a-f]{8,}\b/gi, "<id>"],
  [/\d+(?:\.\d+)?/g, "<n>"],
  [/\s+/g, " "],
];

const plain = (text: string): string =>
  differing.reduce((rest, [pattern, mark]) => rest.replace(pattern, mark), text).trim();

/** From this cosine on two signatures are taken for one. */
const alike = 0.85;

/** Whether each signature of one list has one like it in the other, and the other way round. */
export async function areSame(some: readonly string[], others: readonly string[]): Promise<boolean> {
  if (some.length === 0 || others.length === 0) return false;
  const [a, b] = [await lexical.embed(some), await lexical.embed(others)];
  const has = (vector: Float32Array, all: readonly Float32Array[]) => all.some((each) => cosine(vector, each) >= alike);
  const [mine, theirs] = [new Set(some), new Set(others)];
  return (
    some.every((each, at) => theirs.has(each) || has(a[at] ?? new Float32Array(), b)) &&
    others.every((each, at) => mine.has(each) || has(b[at] ?? new Float32Array(), a))
  );
}
