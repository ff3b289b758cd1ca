import { readFileSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What a test file holds that starts programs. */
const starts = /node:child_process|support\/(?:processes|projects\/(?:git|code|task|trial))|\bgit\b|runProgram/;

/**
 * Files that start programs come first, as to start one the system copies the tables of the whole process: 1 ms while
 * it is small, 5 ms once it has loaded everything. Otherwise the largest come first, so that none is left for the end.
 */
export class StartersFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const known = files.map((file) => {
      const text = readFileSync(file.moduleId, "utf8");
      return { file, isStarter: starts.test(text), size: text.length };
    });
    return known
      .toSorted((a, b) => Number(b.isStarter) - Number(a.isStarter) || b.size - a.size)
      .map(({ file }) => file);
  }
}
