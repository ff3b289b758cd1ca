import { expect, test } from "vitest";
import { wishOf } from "../../../src/commands/task/task.js";

test("what the command line leaves open stays as the task has it", () => {
  const task = { max_iterations: 3, target: "src/a.ts" };
  expect({ ...task, ...wishOf({}, "/project") }).toEqual(task);
  expect({ ...task, ...wishOf({ rounds: 5 }, "/project") }).toEqual({ ...task, max_iterations: 5 });
});
