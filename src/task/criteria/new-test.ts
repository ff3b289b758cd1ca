import { randomUUID } from "node:crypto";
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { quantity } from "../../engine/lib/words.js";
import type { CheckResult, Place } from "../place/run.js";
import { detectTests } from "../test-runs/detect.js";
import { runTests } from "../test-runs/run-tests.js";
import { isTestFile } from "./tests.js";

/** The files before the first attempt. */
export interface FilesBefore {
  /** Names of the tests that passed before the first attempt. */
  readonly tests: readonly string[];
  /** Files that were added or changed since, relative to the folder. @throws ExpectedError if git fails. */
  changed(): Promise<readonly string[]>;
  /** Creates a folder and writes the files before the first attempt into it. @throws ExpectedError if git fails. */
  writeTo(folder: string): Promise<void>;
}

interface TestContext {
  readonly flaky?: readonly string[];
  readonly filesBefore?: FilesBefore;
  /** The results of the test runs for earlier criteria. */
  readonly runs: readonly CheckResult[];
}

const noProofText = "There is no new test yet that fails on the files as they were before and passes now.";
/** Folders that git ignores but tests need. The copy gets links to them. */
const linkedFolders = ["node_modules", ".venv", "venv", "vendor"];
/** Maximum milliseconds of the tests on the copy. */
const maxRunMs = 300_000;

/**
 * Whether a new test proves that the task is done: it passes now, and fails with the files before the first attempt.
 */
export async function checkNewTest(place: Place, { flaky = [], filesBefore, runs }: TestContext): Promise<CheckResult> {
  const failedCheck = (detail: string): CheckResult => ({ passed: false, detail });
  if (filesBefore === undefined)
    return failedCheck("Nothing is known of the files as they were: a run in a git repository keeps them.");
  const results = runs.flatMap(({ results: found }) => found ?? []);
  const namesToSkip = new Set([...filesBefore.tests, ...flaky]);
  const newPassingTests = results
    .flatMap(({ tests }) => tests.filter(({ status }) => status === "pass").map(({ test_name }) => test_name))
    .filter((name) => !namesToSkip.has(name));
  const testFiles = newPassingTests.length === 0 ? [] : (await filesBefore.changed()).filter(isTestFile);
  const [framework] = detectTests(place.cwd);
  if (testFiles.length === 0 || framework === undefined) return failedCheck(noProofText);
  const copy = join(place.scratch, `before-${randomUUID()}`);
  try {
    await filesBefore.writeTo(copy);
    for (const path of testFiles) {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      cpSync(join(place.cwd, path), join(copy, path));
    }
    for (const name of linkedFolders)
      if (existsSync(join(place.cwd, name)) && !existsSync(join(copy, name)))
        symlinkSync(join(place.cwd, name), join(copy, name));
    const { access } = place;
    const copyPlace = {
      ...place,
      cwd: copy,
      access: { ...access, read: [...access.read, place.cwd], write: [copy, place.scratch] },
    };
    const { tests } = await runTests(framework, copyPlace, maxRunMs);
    const passedBefore = new Set(tests.filter(({ status }) => status === "pass").map(({ test_name }) => test_name));
    // If no test passes in the copy, the failure of the new test proves nothing.
    if (filesBefore.tests.length > 0 && !filesBefore.tests.some((name) => passedBefore.has(name)))
      return failedCheck("The tests do not run on a copy of the files as they were before, so name another criterion.");
    if (newPassingTests.some((name) => !passedBefore.has(name)))
      return { passed: true, detail: "A new test passes, and fails with the files as they were." };
    return failedCheck(
      `${quantity(newPassingTests.length, "new test")} pass with the files as they were before too, so they show nothing. ${noProofText}`,
    );
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
