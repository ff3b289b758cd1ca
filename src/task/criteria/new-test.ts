import { randomUUID } from "node:crypto";
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { many } from "../../engine/lib/words.js";
import type { CheckResult, Place } from "../place/run.js";
import { detectTests } from "../test-runs/detect.js";
import { runTests } from "../test-runs/run-tests.js";
import { isTestFile } from "./tests.js";

/** The files as they were before the first attempt. */
export interface FilesBefore {
  /** Names of the tests that passed then. */
  readonly tests: readonly string[];
  /** Files that were added or changed since, relative to the folder. @throws ExpectedError where git fails. */
  changed(): Promise<readonly string[]>;
  /** Writes the files as they were into a folder, which is made. @throws ExpectedError where git fails. */
  writeTo(folder: string): Promise<void>;
}

interface Known {
  readonly flaky?: readonly string[];
  readonly before?: FilesBefore;
  /** The runs of tests that were made for criteria before this one. */
  readonly runs: readonly CheckResult[];
}

const noProof = "There is no new test yet that fails on the files as they were before and passes now.";
/** What git ignores and tests need: it is linked into the copy. */
const installed = ["node_modules", ".venv", "venv", "vendor"];
/** Most milliseconds of the tests with the files as they were. */
const maxMs = 300_000;

/** Whether a new test shows that the task is done: it passes now, and fails with the files as they were before. */
export async function checkNewTest(place: Place, { flaky = [], before, runs }: Known): Promise<CheckResult> {
  const not = (detail: string): CheckResult => ({ passed: false, detail });
  if (before === undefined)
    return not("Nothing is known of the files as they were: a run in a git repository keeps them.");
  const results = runs.flatMap(({ results: found }) => found ?? []);
  const known = new Set([...before.tests, ...flaky]);
  const added = results
    .flatMap(({ tests }) => tests.filter(({ status }) => status === "pass").map(({ test_name }) => test_name))
    .filter((name) => !known.has(name));
  const files = added.length === 0 ? [] : (await before.changed()).filter(isTestFile);
  const [detected] = detectTests(place.cwd);
  if (files.length === 0 || detected === undefined) return not(noProof);
  const copy = join(place.scratch, `before-${randomUUID()}`);
  try {
    await before.writeTo(copy);
    for (const path of files) {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      cpSync(join(place.cwd, path), join(copy, path));
    }
    for (const name of installed)
      if (existsSync(join(place.cwd, name)) && !existsSync(join(copy, name)))
        symlinkSync(join(place.cwd, name), join(copy, name));
    const { reach } = place;
    const there = {
      ...place,
      cwd: copy,
      reach: { ...reach, read: [...reach.read, place.cwd], write: [copy, place.scratch] },
    };
    const { tests } = await runTests(detected, there, maxMs);
    const passed = new Set(tests.filter(({ status }) => status === "pass").map(({ test_name }) => test_name));
    // Where nothing runs in the copy at all, that says nothing of the new test.
    if (before.tests.length > 0 && !before.tests.some((name) => passed.has(name)))
      return not("The tests do not run on a copy of the files as they were before, so name another criterion.");
    if (added.some((name) => !passed.has(name)))
      return { passed: true, detail: "A new test passes, and fails with the files as they were." };
    return not(
      `${many(added.length, "new test")} pass with the files as they were before too, so they show nothing. ${noProof}`,
    );
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
