import type { DocumentText } from "../../text/documents/text/document-text.js";

/** Number of adjacent words in one shingle. */
const shingleWords = 5;
/** Minimum share of common shingles of equal texts. Different layouts of the same text share more. */
const minSharedShare = 0.85;

/**
 * The result of comparing a text with the one that was read. `unknown`: no text could be fetched, or only a landing
 * page.
 */
export type TextComparison = "same" | "another" | "unknown";

/**
 * Compares a paper's current text with the text that was read. If they differ, the paper must be read again.
 * `cachedText`: if its hash is not the hash of the text that was read, only the hashes are compared.
 */
export function compareTexts(
  currentText: DocumentText | undefined,
  cachedText: DocumentText | undefined,
  readSha256: string | undefined,
  readDepth: string | undefined,
): TextComparison {
  if (currentText === undefined) return "unknown";
  // An update that was stopped before it was opened may have cached a text that nobody has read.
  const textRead = readSha256 === undefined || cachedText?.sha256 === readSha256 ? cachedText : undefined;
  if (currentText.sha256 === readSha256 || currentText.sha256 === textRead?.sha256) return "same";
  // A landing page says nothing about the paper's text.
  if (currentText.depth === "abstract") return "unknown";
  if (readDepth === "abstract") return "another";
  if (textRead === undefined) return "another";
  const [oldShingles, newShingles] = [shinglesOf(textRead.text), shinglesOf(currentText.text)];
  if (newShingles.size === 0) return "unknown";
  const sharedShare = (shingles: ReadonlySet<string>, others: ReadonlySet<string>) =>
    [...shingles].filter((shingle) => others.has(shingle)).length / Math.max(shingles.size, 1);
  return Math.min(sharedShare(newShingles, oldShingles), sharedShare(oldShingles, newShingles)) < minSharedShare
    ? "another"
    : "same";
}

function shinglesOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const shingles = new Set<string>();
  for (let start = 0; start + shingleWords <= words.length; start++)
    shingles.add(words.slice(start, start + shingleWords).join(" "));
  return shingles;
}
