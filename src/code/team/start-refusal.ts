import type { Verdict } from "../../engine/loop/types.js";
import { sanitise } from "../../engine/lib/sanitise.js";
import { isNotATest } from "../../task/test-runs/results.js";
import type { TestResults } from "../../task/generated/test-results.js";
import type { RalphTask } from "../../task/generated/ralph.js";

/** Messages of shells and programs if the test program is missing. Agents have no network to install it. */
const missingProgramPatterns = [
  /^.*\b(?:ba|da)?sh: (?:(?:line )?\d+: )?[^\n]{1,200}: (?:command )?not found$/m,
  /^.*It could not be started: .*$/m,
  /^.*No module named '?(?:pytest|unittest)\b.*$/m,
  /^.*\bexecvp [^\n]{1,200}: No such file or directory$/m,
  /^.*\bspawn [^\n]{1,200} ENOENT$/m,
  /^.*Cannot find module '[^'\n]{0,400}\/node_modules\/[^'\n]{0,400}'$/m,
];

/**
 * The verdict after the first test run if no agent could help: the test program is not installed, or there is no test
 * to repair. Undefined if agents can start.
 */
export function startRefusal(task: RalphTask, results: TestResults | undefined): Verdict | undefined {
  if (results === undefined) return undefined;
  const { framework, tests, problem = "", stderr = "", stdout = "" } = results;
  const isCommand = framework === "command";
  const isRepair = task.acceptance_criteria.every(({ type }) => type === "tests_pass");
  const hasRun = tests.some(({ test_name, status }) => status !== "skip" && !isNotATest(test_name));
  if (hasRun) return undefined;
  const output = `${stderr}\n${problem}\n${stdout}`.slice(0, 20_000);
  // Cargo's errors if it can't start. Code that does not compile is reported as a failed test instead.
  const cargoPatterns = framework === "cargo" && tests.length === 0 ? [/^error: .+$/m] : [];
  const errorLine = [...missingProgramPatterns, ...cargoPatterns]
    .map((pattern) => pattern.exec(output)?.[0])
    .find((match) => match !== undefined);
  // If the command is the user's own, the task may be to create the missing program.
  if (errorLine !== undefined && problem !== "" && !(isCommand && !isRepair)) {
    const errorText = sanitise(errorLine).trim().slice(0, 200);
    return {
      verdict: "blocked",
      reason: `The tests can't be run (${errorText}). Install what the project needs, in its own folder, as by npm ci or into .venv; or name the command that runs them with --test-command.`,
    };
  }
  if (isRepair && !isCommand && tests.every(({ status }) => status === "skip"))
    return {
      verdict: "blocked",
      reason: `There is no test to repair: ${framework} ${tests.length === 0 ? "found none" : "skipped all"}. Write one, or say what is to be done, such as research-ralph code "add tests of src/parse.ts".`,
    };
  return undefined;
}
