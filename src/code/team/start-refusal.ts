import type { Verdict } from "../../engine/loop/types.js";
import { sanitise } from "../../engine/lib/sanitise.js";
import { isNoTest } from "../../task/test-runs/results.js";
import type { TestResults } from "../../task/generated/test-results.js";
import type { RalphTask } from "../../task/generated/ralph.js";

/** What shells and programs say where the test program itself is not there; agents have no network to install it. */
const missing = [
  /^.*\b(?:ba|da)?sh: (?:(?:line )?\d+: )?[^\n]{1,200}: (?:command )?not found$/m,
  /^.*It could not be started: .*$/m,
  /^.*No module named '?(?:pytest|unittest)\b.*$/m,
  /^.*\bexecvp [^\n]{1,200}: No such file or directory$/m,
  /^.*\bspawn [^\n]{1,200} ENOENT$/m,
  /^.*Cannot find module '[^'\n]{0,400}\/node_modules\/[^'\n]{0,400}'$/m,
];

/**
 * Why no agent is asked after the first run of the tests, where nothing that an agent may do would help: the test
 * program is not installed, or there is no test to repair.
 */
export function whyNotBegin(task: RalphTask, results: TestResults | undefined): Verdict | undefined {
  if (results === undefined) return undefined;
  const { framework, tests, problem = "", stderr = "", stdout = "" } = results;
  const isCommand = framework === "command";
  const isRepair = task.acceptance_criteria.every(({ type }) => type === "tests_pass");
  const hasRun = tests.some(({ test_name, status }) => status !== "skip" && !isNoTest(test_name));
  if (hasRun) return undefined;
  const said = `${stderr}\n${problem}\n${stdout}`.slice(0, 20_000);
  // What cargo says where it can't start; code that does not compile is a test that failed.
  const ofCargo = framework === "cargo" && tests.length === 0 ? [/^error: .+$/m] : [];
  const line = [...missing, ...ofCargo].map((pattern) => pattern.exec(said)?.[0]).find((found) => found !== undefined);
  // A command of the user's may be what the task asks for.
  if (line !== undefined && problem !== "" && !(isCommand && !isRepair)) {
    const what = sanitise(line).trim().slice(0, 200);
    return {
      verdict: "blocked",
      reason: `The tests can't be run (${what}). Install what the project needs, in its own folder, as by npm ci or into .venv; or name the command that runs them with --test-command.`,
    };
  }
  if (isRepair && !isCommand && tests.every(({ status }) => status === "skip"))
    return {
      verdict: "blocked",
      reason: `There is no test to repair: ${framework} ${tests.length === 0 ? "found none" : "skipped all"}. Write one, or say what is to be done, such as research-ralph code "add tests of src/parse.ts".`,
    };
  return undefined;
}
