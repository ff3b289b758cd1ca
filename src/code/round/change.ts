import { estimateTokens } from "../../engine/lib/tokens.js";
import { isTestFile } from "../../task/criteria/tests.js";
import type { Changed, Snapshots } from "../../task/project-files/snapshots.js";

/** Most estimated tokens of a change as critic and adversary see it. */
const maxTokens = 7_600;

/** What an artisan has changed, for the roles after it. */
export interface Change {
  readonly files: readonly Changed[];
  /** The diff, cut per file where it is too long; what was cut is said. */
  readonly text: string;
  /** What code saw in it: tests that were taken away or are skipped now. */
  readonly warnings: readonly string[];
}

const skips =
  /\.(?:skip|todo|only)\b|\bxit\(|\bxdescribe\(|\bxtest\(|@(?:pytest\.mark\.)?(?:skip|xfail)|@unittest\.skip|#\[ignore|t\.Skip\(/;
const begins = /^\s*(?:it|test|describe)(?:\.\w+)*\(|^\s*(?:async )?def test_|^\s*#\[test\]|^func Test/;

/** The change between two snapshots. @throws ExpectedError where git fails. */
export async function changeBetween(
  snapshots: Pick<Snapshots, "changes" | "diff">,
  from: string,
  to: string,
): Promise<Change> {
  const files = await snapshots.changes(from, to);
  const warnings: string[] = [];
  const diffs: { readonly path: string; readonly text: string }[] = [];
  for (const { path, kind } of files.slice(0, 100)) {
    const text = await snapshots.diff(from, to, path);
    diffs.push({ path, text });
    if (kind === "removed" && isTestFile(path)) warnings.push(`The test file ${path} was deleted.`);
    const lines = text.split("\n");
    const [added, removed] = ["+", "-"].map((mark) =>
      lines.filter((line) => line.startsWith(mark) && !line.startsWith(mark.repeat(3))).map((line) => line.slice(1)),
    );
    const count = (all: readonly string[] | undefined, pattern: RegExp) =>
      (all ?? []).filter((line) => pattern.test(line)).length;
    const isFewer = count(removed, begins) > count(added, begins);
    if (kind !== "removed" && isTestFile(path) && isFewer) warnings.push(`${path} holds fewer tests than before.`);
    if (count(added, skips) > count(removed, skips)) warnings.push(`${path} skips tests that ran before.`);
  }
  let left = maxTokens;
  const shown = diffs.map(({ text }, at) => {
    const share = Math.max(60, Math.floor(left / (diffs.length - at)));
    const kept = cut(text, share);
    left -= estimateTokens(kept);
    return kept;
  });
  const more = files.length > 100 ? [`… and ${files.length - 100} more files`] : [];
  return { files, text: [...shown, ...more].join("\n"), warnings: warnings.slice(0, 10) };
}

/** As many lines of a diff as fit; how many were left out is said. */
function cut(text: string, tokens: number): string {
  if (estimateTokens(text) <= tokens) return text.trimEnd();
  const kept: string[] = [];
  const lines = text.trimEnd().split("\n");
  let used = 15;
  for (const line of lines) {
    const shown = line.slice(0, 400);
    used += estimateTokens(shown) + 1;
    if (used > tokens) break;
    kept.push(shown);
  }
  return [...kept, `… ${lines.length - kept.length} lines of this file's diff are left out`].join("\n");
}
