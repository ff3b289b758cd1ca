import { randomUUID } from "node:crypto";
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Tell } from "../../engine/loop/types.js";
import { many } from "../../engine/lib/words.js";
import { protecting } from "../../task/project-files/protect.js";
import { checkCommand, type Place } from "../../task/place/run.js";
import type { CodeState, Round } from "../generated/ralph-code.js";
import { isTestFile } from "../graph/source-text.js";
import type { CodeOptions } from "./options.js";
import { testProject, type TestRun } from "./tests.js";

/** Runs what an agent may have written, and puts back what that changes around the project's files. */
type Hold = <Result>(act: () => Promise<Result>) => Promise<Result>;

/** What the job lacks besides passing tests, a sentence each. */
export async function unmetOf(
  options: CodeOptions,
  state: CodeState,
  run: TestRun,
  signal: AbortSignal,
  tell: Tell,
): Promise<string[]> {
  const { job } = state;
  const place: Place = { ...options.place, signal };
  const held: Hold = (act) =>
    protecting(options.protect, state.attempts.at(-1)?.iteration, "the checks ran", tell, act);
  const unmet: string[] = [];
  for (const line of job.checks ?? []) {
    const { passed, detail } = await held(() => checkCommand(line, {}, place));
    if (!passed) unmet.push(`The check \`${line}\` fails: ${detail.split("\n").slice(0, 6).join(" ").slice(0, 500)}`);
  }
  if (job.text !== undefined && (job.checks ?? []).length === 0 && run.tested.failing === 0)
    unmet.push(...(await withoutProof(options, state, run, place, held)));
  return unmet;
}

const noProof =
  "There is no new test yet that fails on the files as they were before and passes now; or name a command that must succeed with --check.";

/** Whether a new test shows that the task is done: it passes now, and fails with the files as they were before. */
async function withoutProof(
  { snapshots, now }: CodeOptions,
  { base, tests_before: before = [], flaky = [], job }: CodeState,
  { passing }: TestRun,
  place: Place,
  held: Hold,
): Promise<string[]> {
  if (base === undefined) return [noProof];
  const known = new Set([...before, ...flaky]);
  const added = passing.filter((name) => !known.has(name));
  if (added.length === 0) return [noProof];
  const { commit } = (await snapshots.take(0)) ?? {};
  if (commit === undefined)
    return ["The files could not be kept by git, so nothing shows that a new test fails without the change."];
  const changed = (await snapshots.changes(base, commit)).filter(
    ({ path, kind }) => kind !== "removed" && isTestFile(path),
  );
  if (changed.length === 0) return [noProof];
  const copy = join(place.scratch, `before-${randomUUID()}`);
  try {
    await snapshots.writeTo(base, copy);
    for (const { path } of changed) {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      cpSync(join(place.cwd, path), join(copy, path));
    }
    for (const name of installed)
      if (existsSync(join(place.cwd, name)) && !existsSync(join(copy, name)))
        symlinkSync(join(place.cwd, name), join(copy, name));
    const { reach } = place;
    const there: Place = {
      ...place,
      cwd: copy,
      reach: { ...reach, read: [...reach.read, place.cwd], write: [copy, place.scratch] },
    };
    const old = await held(() => testProject(there, job, {}, now));
    const passed = new Set(old.passing);
    // Where nothing runs in the copy at all, that says nothing of the new test.
    if (before.length > 0 && !before.some((name) => passed.has(name)))
      return [
        "The tests do not run on a copy of the files as they were before, so name a command that must succeed with --check.",
      ];
    return added.some((name) => !passed.has(name))
      ? []
      : [
          `${many(added.length, "new test")} pass with the files as they were before too, so they show nothing. ${noProof}`,
        ];
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** What git ignores and tests need: it is linked into the copy. */
const installed = ["node_modules", ".venv", "venv", "vendor"];

/** Why hooks say that the run is not done, though a round has reached its end. */
export async function vetoesOf(
  { veto, folder }: Pick<CodeOptions, "veto" | "folder">,
  { job }: CodeState,
  { round }: Round,
): Promise<readonly string[]> {
  const { text = "Repair the failing tests" } = job;
  return await veto({ unit: `round:${round}`, phase: "CODE", title: text, workspace: folder });
}
