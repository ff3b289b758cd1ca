import { expect, it } from "vitest";
import { planOf, stepsIn } from "../../../src/task/plan/plan.js";

it("an agent's steps are the boxes under its heading, and nothing else", () => {
  const text =
    "- [ ] no step\n\n## Steps\n\n- [x] first\n* [ ] second\n  - [ ] inner\n1. no box\n\n## Notes\n\n- [ ] neither\n";
  expect(stepsIn(text)).toEqual([
    { title: "first", done: true },
    { title: "second", done: false },
    { title: "inner", done: false },
  ]);
  expect(stepsIn("no heading\n- [ ] a\n")).toEqual([]);
  expect(stepsIn(`## Steps\n${"- [ ] x\n".repeat(100)}`)).toHaveLength(30);
  expect(stepsIn(`## steps\n- [ ] ${"y".repeat(999)}\n`)[0]?.title).toHaveLength(200);
});

it("a plan holds the criteria and the steps; what is at hand is the first open step, else criterion", () => {
  const task = {
    task: "x",
    acceptance_criteria: [{ type: "file_exists", path: "a" } as const, { type: "file_exists", path: "b" } as const],
  };
  const met = { criterion: "file_exists a", passed: true, ms: 1, detail: "" };
  expect(planOf(task, [met], []).current_task_id).toBe("criterion-2");
  expect(
    planOf(
      task,
      [met],
      [
        { title: "s", done: true },
        { title: "t", done: false },
      ],
    ).current_task_id,
  ).toBe("step-2");
  expect(planOf(task, [met, met], []).current_task_id).toBeNull();
});
