import { expect, test } from "vitest";
import { overridesIn } from "../../../src/commands/task/task.js";

test("what the command line leaves open stays as the task has it", () => {
  const task = { max_iterations: 3, target: "src/a.ts" };
  expect({ ...task, ...overridesIn({}, "/project") }).toEqual(task);
  expect({ ...task, ...overridesIn({ rounds: 5 }, "/project") }).toEqual({ ...task, max_iterations: 5 });
});
