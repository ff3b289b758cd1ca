import { lessonsName } from "../../engine/lib/layout.js";
import { join } from "node:path";
import { hasCode } from "../../engine/lib/errors.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { explainSystemError } from "../../engine/storage/explain-system-error.js";
import { readRegularFile, readRegularText, decodeUserText } from "../../engine/storage/regular-file.js";
import type { Pattern } from "./progress-log.js";

const learnedHeading = "## Learned patterns";

/** The patterns that AGENTS.md does not contain yet. */
export async function patternsNotIn(root: string, patterns: readonly Pattern[]): Promise<Pattern[]> {
  const text = await readRegularText(join(root, lessonsName)).catch(() => "");
  return patterns.filter((pattern) => !text.includes(`- ${pattern.text}`));
}

/**
 * Adds patterns to AGENTS.md, at the end of its section "Learned patterns". Each pattern is one line of text.
 */
export async function learnPatterns(root: string, patterns: readonly Pattern[]): Promise<void> {
  const newPatterns = await patternsNotIn(root, patterns);
  if (newPatterns.length === 0) return;
  const path = join(root, lessonsName);
  const bytes = await readRegularFile(path).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return Buffer.from("# What agents should know in this repository\n");
    // An existing file that can't be read must not be replaced, nor one in another encoding.
    throw explainSystemError(error, path);
  });
  const text = decodeUserText(bytes, path);
  const lines = newPatterns.map((pattern) => `- ${pattern.text}`).join("\n");
  const start = text.indexOf(learnedHeading);
  if (start < 0) {
    await writeFileAtomic(path, `${text.trimEnd()}\n\n${learnedHeading}\n\n${lines}\n`);
    return;
  }
  const nextHeading = text.indexOf("\n## ", start + learnedHeading.length);
  const textBefore = text.slice(0, nextHeading < 0 ? undefined : nextHeading).trimEnd();
  const gap = textBefore.endsWith(learnedHeading) ? "\n\n" : "\n";
  await writeFileAtomic(path, `${textBefore}${gap}${lines}\n${nextHeading < 0 ? "" : text.slice(nextHeading)}`);
}
