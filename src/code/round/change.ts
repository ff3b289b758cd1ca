import { estimateTokens } from "../../engine/lib/tokens.js";
import { isTestFile } from "../../task/criteria/tests.js";
import type { Snapshots } from "../../task/project-files/snapshots.js";

/** Maximum estimated tokens of a change in the brief of the critic and of the adversary. */
const maxTokens = 7_600;

/** The change of an artisan, for the roles after it. */
export interface Change {
  /** The diff. Diffs of single files are cut if they are too long, with a note. */
  readonly text: string;
  /** Warnings about tests that were deleted or are now skipped. */
  readonly warnings: readonly string[];
}

const skippedTest =
  /\.(?:skip|todo|only)\b|\bxit\(|\bxdescribe\(|\bxtest\(|@(?:pytest\.mark\.)?(?:skip|xfail)|@unittest\.skip|#\[ignore|t\.Skip\(/;
const testStart = /^\s*(?:it|test|describe)(?:\.\w+)*\(|^\s*(?:async )?def test_|^\s*#\[test\]|^func Test/;

/** The change between two snapshots. @throws ExpectedError if git fails. */
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
    const countMatching = (lines: readonly string[] | undefined, pattern: RegExp) =>
      (lines ?? []).filter((line) => pattern.test(line)).length;
    const hasFewerTests = countMatching(removed, testStart) > countMatching(added, testStart);
    if (kind !== "removed" && isTestFile(path) && hasFewerTests)
      warnings.push(`${path} holds fewer tests than before.`);
    if (countMatching(added, skippedTest) > countMatching(removed, skippedTest))
      warnings.push(`${path} skips tests that ran before.`);
  }
  let remainingTokens = maxTokens;
  const shownDiffs = diffs.map(({ text }, index) => {
    const maxDiffTokens = Math.max(60, Math.floor(remainingTokens / (diffs.length - index)));
    const shownDiff = cutDiff(text, maxDiffTokens);
    remainingTokens -= estimateTokens(shownDiff);
    return shownDiff;
  });
  const moreLine = files.length > 100 ? [`… and ${files.length - 100} more files`] : [];
  return { text: [...shownDiffs, ...moreLine].join("\n"), warnings: warnings.slice(0, 10) };
}

/** As many lines of a diff as fit, and a note with the number of omitted lines. */
function cutDiff(text: string, tokens: number): string {
  if (estimateTokens(text) <= tokens) return text.trimEnd();
  const shownLines: string[] = [];
  const lines = text.trimEnd().split("\n");
  let usedTokens = 15;
  for (const line of lines) {
    const shownLine = line.slice(0, 400);
    usedTokens += estimateTokens(shownLine) + 1;
    if (usedTokens > tokens) break;
    shownLines.push(shownLine);
  }
  return [...shownLines, `… ${lines.length - shownLines.length} lines of this file's diff are left out`].join("\n");
}
