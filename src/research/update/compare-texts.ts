import type { DocumentText } from "../../text/documents/text/document-text.js";

/** Words that stand side by side in one shingle. */
const size = 5;
/** A text of which so much stood in the one that was read is the same, whatever a publisher's layout adds. */
const sameShare = 0.85;

/** How a text differs from the one that was read. `unknown`: no text could be fetched, or only a landing page. */
export type TextCompared = "same" | "another" | "unknown";

/**
 * Whether a text says something else than the one that was read, so that the paper is to be read again. `kept`: the
 * text that is kept of the paper; where its hash is not that of the text read, the hash alone tells.
 */
export function compareTexts(
  now: DocumentText | undefined,
  kept: DocumentText | undefined,
  beforeSha256: string | undefined,
  readDepth: string | undefined,
): TextCompared {
  if (now === undefined) return "unknown";
  // What an update kept that was ended before it was opened is not what was read.
  const before = beforeSha256 === undefined || kept?.sha256 === beforeSha256 ? kept : undefined;
  if (now.sha256 === beforeSha256 || now.sha256 === before?.sha256) return "same";
  // A landing page says nothing of the paper's text.
  if (now.depth === "abstract") return "unknown";
  if (readDepth === "abstract") return "another";
  if (before === undefined) return "another";
  const [old, young] = [shinglesOf(before.text), shinglesOf(now.text)];
  if (young.size === 0) return "unknown";
  const shared = (some: ReadonlySet<string>, others: ReadonlySet<string>) =>
    [...some].filter((each) => others.has(each)).length / Math.max(some.size, 1);
  return Math.min(shared(young, old), shared(old, young)) < sameShare ? "another" : "same";
}

function shinglesOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const shingles = new Set<string>();
  for (let at = 0; at + size <= words.length; at++) shingles.add(words.slice(at, at + size).join(" "));
  return shingles;
}
