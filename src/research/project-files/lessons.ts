import { lessonsName } from "../../engine/lib/layout.js";
import { join } from "node:path";
import { hasCode } from "../../engine/lib/errors.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { explainSystemError } from "../../engine/storage/explain-system-error.js";
import { readRegularFile, readRegularText, decodeUserText } from "../../engine/storage/regular-file.js";
import type { Pattern } from "./progress-log.js";

const learnedHeading = "## Learned patterns";

/** Patterns that AGENTS.md does not hold yet. */
export async function unlearned(root: string, patterns: readonly Pattern[]): Promise<Pattern[]> {
  const text = await readRegularText(join(root, lessonsName)).catch(() => "");
  return patterns.filter((pattern) => !text.includes(`- ${pattern.text}`));
}

/**
 * Adds patterns to AGENTS.md, at the end of its section "Learned patterns". Each is one line of text and nothing else.
 */
export async function learnPatterns(root: string, patterns: readonly Pattern[]): Promise<void> {
  const fresh = await unlearned(root, patterns);
  if (fresh.length === 0) return;
  const path = join(root, lessonsName);
  const bytes = await readRegularFile(path).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return Buffer.from("# What agents should know in this repository\n");
    // One that is there and can't be read would be lost; so would letters of another encoding.
    throw explainSystemError(error, path);
  });
  const text = decodeUserText(bytes, path);
  const lines = fresh.map((pattern) => `- ${pattern.text}`).join("\n");
  const start = text.indexOf(learnedHeading);
  if (start < 0) {
    await writeFileAtomic(path, `${text.trimEnd()}\n\n${learnedHeading}\n\n${lines}\n`);
    return;
  }
  const next = text.indexOf("\n## ", start + learnedHeading.length);
  const head = text.slice(0, next < 0 ? undefined : next).trimEnd();
  const gap = head.endsWith(learnedHeading) ? "\n\n" : "\n";
  await writeFileAtomic(path, `${head}${gap}${lines}\n${next < 0 ? "" : text.slice(next)}`);
}
