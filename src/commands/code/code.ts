import { existsSync, statSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import { settingsFor } from "../../compose/agents.js";
import { crewOf, librariansOf, requireCrew, windowOf } from "../../compose/code-roles.js";
import { drive } from "../../compose/drive.js";
import { openCode } from "../../compose/open-code.js";
import { sandboxOf } from "../../compose/open-task.js";
import { codeReportName } from "../../code/project-files/layout.js";
import { codeFormat, roundsOf } from "../../code/project-files/state-file.js";
import { codeWords } from "../../code/project-files/words.js";
import type { CodeState, Job } from "../../code/generated/ralph-code.js";
import { latestTests, notCounted, spentIn, testsText, untestedRound, usualRounds } from "../../code/workflow/status.js";
import { type ConfigFlags, resolveConfig } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { given } from "../../engine/lib/given.js";
import type { Verdict } from "../../engine/loop/types.js";
import { readRecords } from "../../engine/storage/state/record-store.js";
import { exitCodeOf } from "../../engine/loop/exit-codes.js";
import { homeOf, type Io } from "../../engine/ui/io.js";
import { many } from "../../engine/lib/words.js";
import { say } from "../../engine/ui/terminal/format.js";
import { requireOwnFolder } from "../../task/place/own-folder.js";
import { detectTests, frameworks, ownTestCommand } from "../../task/test-runs/detect.js";

export interface CodeArguments {
  /** The task in words; absent: repair the failing tests. */
  readonly text: string | undefined;
  readonly target?: string;
  readonly checks?: readonly string[];
  readonly testCommand?: string;
  readonly rounds?: number;
  /** Only shows the librarian's files. */
  readonly graph: boolean;
  readonly force: boolean;
  readonly keepTests: boolean;
  readonly flags: ConfigFlags;
  readonly quiet: boolean;
  readonly verbose?: boolean;
  readonly json: boolean;
}

/** Works on the project in the current folder by roles until its tests pass; its exit code is the verdict's. */
export async function codeCommand(args: CodeArguments, io: Io): Promise<number> {
  const folder = io.cwd;
  const crewHere = async () => {
    const crew = crewOf(await resolveConfig(io, args.flags), io.env);
    requireCrew(crew, settingsFor(crew.config, io, { folder, changes: true }));
    return crew;
  };
  if (args.graph) {
    const job = {
      rounds: 1,
      ...given({ target: args.target === undefined ? undefined : targetIn(folder, args.target) }),
    };
    const crew = await crewHere();
    const window = windowOf(librariansOf(crew), settingsFor(crew.config, io, { folder, changes: true }));
    return (await import("./graph.js")).graphCommand(folder, job, window, io, args.json);
  }
  requireOwnFolder(folder, homeOf(io.env));
  const job = jobOf(args, folder);
  const crew = await crewHere();
  const { config, names, hasAdversary, isBuiltIn, temperatures } = crew;
  const how = {
    json: args.json,
    quiet: args.quiet,
    ...given({ verbose: args.verbose }),
    iterations: config.iterations ?? Number.POSITIVE_INFINITY,
    folder,
    changes: true,
    words: codeWords,
    roles: names,
    sandbox: sandboxOf({ folder }, config),
  };
  const wish = {
    ...{ folder, job, force: args.force, keepTests: args.keepTests },
    ...{ hasAdversary, isBuiltIn, temperatures, librarians: librariansOf(crew) },
  };
  const verdict = await drive(config, io, how, (run) => openCode(wish, config, io, run));
  await sayEnd(folder, verdict, io, args);
  return exitCodeOf(verdict);
}

/** What the arguments ask for. @throws ExpectedError (exit code 2) where it can't be done here. */
function jobOf({ text, target, checks = [], testCommand, rounds }: CodeArguments, folder: string): Job {
  if (text?.trim() === "")
    throw new ExpectedError("The task is empty; say what is to be done, or leave it out to repair the tests.", 2);
  if (rounds !== undefined && (!Number.isInteger(rounds) || rounds < 1))
    throw new ExpectedError("--rounds is a whole number from 1 on.", 2);
  if (testCommand === undefined && detectTests(folder).length === 0)
    throw new ExpectedError(
      `No supported test framework was found in ${folder} (${frameworks.join(", ")}); name the command that runs the tests: --test-command "${ownTestCommand(folder) ?? "make test"}".`,
      2,
    );
  return {
    rounds: rounds ?? usualRounds,
    ...given({
      text: text?.trim(),
      test_command: testCommand,
      target: target === undefined ? undefined : targetIn(folder, target),
    }),
    ...(checks.length === 0 ? {} : { checks: [...checks] }),
  };
}

/** @throws ExpectedError (exit code 2) for a target that is outside of the project, or not there. */
function targetIn(folder: string, target: string): string {
  // The name of a variable that is not set would be the folder.
  if (target.trim() === "") throw new ExpectedError("--target is empty; name a file of the project.", 2);
  const path = relative(folder, resolve(folder, target));
  if (path.startsWith("..") || isAbsolute(path))
    throw new ExpectedError(
      `--target ${target} is outside of ${folder}; name a file of the project, or start in its folder.`,
      2,
    );
  if (!existsSync(resolve(folder, path)))
    throw new ExpectedError(`--target ${target}: there is no such file in ${folder}.`, 2);
  if (statSync(resolve(folder, path)).isDirectory())
    throw new ExpectedError(`--target ${target} is a folder; name a file in it.`, 2);
  return path;
}

/** The last words of a run. */
async function sayEnd(folder: string, verdict: Verdict, io: Io, { json, quiet }: CodeArguments): Promise<void> {
  const state: CodeState | undefined = (await readRecords(folder, codeFormat).catch(() => undefined))?.state;
  const tests = state && latestTests(state);
  if (json) {
    const spent = state && spentIn(state);
    const line = {
      type: "code",
      ...verdict,
      rounds: state === undefined ? 0 : roundsOf(state).length,
      iterations: spent?.iterations ?? 0,
      not_counted: state === undefined ? 0 : notCounted(state),
      tokens: spent?.tokens ?? 0,
      cost_usd: spent?.usd ?? 0,
      failing: tests?.failing ?? null,
      untested_round: (state && untestedRound(state)) ?? null,
      flaky: state?.flaky ?? [],
      findings: (state === undefined ? [] : roundsOf(state)).flatMap(({ findings = [] }) => findings),
    };
    return io.stdout(`${JSON.stringify(line)}\n`);
  }
  if (quiet || state === undefined) return;
  if (tests !== undefined) say(io, testsText(state, tests), "  Tests    ");
  for (const { test } of (tests?.failures ?? []).slice(0, 5)) say(io, `✗ ${test}`, " ".repeat(11));
  const found = roundsOf(state).flatMap(({ findings = [] }) => findings).length;
  const more = found === 0 ? "" : `, with ${many(found, "finding")} of the adversary`;
  say(io, `${codeReportName}${more}`, "  Report   ");
}
