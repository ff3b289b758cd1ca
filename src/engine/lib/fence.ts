import { createHash } from "node:crypto";

/**
 * Marks a text as data from outside. The mark carries the text's own hash, so no text can close its fence:
 * it would have to contain its own hash.
 */
export function fence(text: string): string {
  const mark = `untrusted-text sha256="${createHash("sha256").update(text).digest("hex").slice(0, 12)}"`;
  return `<${mark}>\n${text}\n</${mark}>`;
}
