import type { DocumentText } from "../../engine/documents/text/document-text.js";

/** Words that stand side by side in one shingle. */
const size = 5;
/** A text of which so much stood in the one that was read is the same, whatever a publisher's layout adds. */
const sameShare = 0.85;

/**
 * Whether a text says something else than the one that was read, so that the paper is to be read again. `kept`: the
 * text that is kept of the paper; where its hash is not that of the text read, the hash alone tells.
 */
export function isAnotherText(
  now: DocumentText,
  kept: DocumentText | undefined,
  beforeSha256: string | undefined,
  readDepth: string | undefined,
): boolean {
  // A landing page says nothing of the paper's text.
  if (now.depth === "abstract") return false;
  // What an update kept that was ended before it was opened is not what was read.
  const before = beforeSha256 === undefined || kept?.sha256 === beforeSha256 ? kept : undefined;
  if (now.sha256 === beforeSha256 || now.sha256 === before?.sha256) return false;
  if (readDepth === "abstract") return true;
  if (before === undefined) return true;
  const [old, young] = [shinglesOf(before.text), shinglesOf(now.text)];
  if (young.size === 0) return false;
  const shared = (some: ReadonlySet<string>, others: ReadonlySet<string>) =>
    [...some].filter((each) => others.has(each)).length / Math.max(some.size, 1);
  return Math.min(shared(young, old), shared(old, young)) < sameShare;
}

function shinglesOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const shingles = new Set<string>();
  for (let at = 0; at + size <= words.length; at++) shingles.add(words.slice(at, at + size).join(" "));
  return shingles;
}
