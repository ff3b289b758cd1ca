import { countTokens } from "gpt-tokenizer";
import { describe, expect, it } from "vitest";
import { newState } from "../../../src/task/project-files/state-file.js";
import type { Criterion } from "../../../src/task/generated/ralph.js";
import type { Check, TaskState } from "../../../src/task/generated/ralph-state.js";
import { briefText } from "../../../src/task/workflow/brief.js";

const views = { plan: "todo.md", record: "whole.task.md", current: "current.state.md" };

function stateWith(task: string, checks: readonly Partial<Check>[]): TaskState {
  const acceptance_criteria = checks.map((_, index): Criterion => ({
    type: "file_exists",
    path: `${index}`,
  })) as TaskState["task"]["acceptance_criteria"];
  const whole = checks.map((each) => ({ criterion: "file_exists a", passed: false, ms: 1, detail: "", ...each }));
  return { ...newState({ task, acceptance_criteria }, "/project", "ralph.json"), checks: whole };
}

describe("the brief", () => {
  it("holds the task, each criterion with what was found, and the attempts that are left", () => {
    const text = briefText(
      stateWith("Make it work", [
        { passed: true, criterion: "file_exists a" },
        { criterion: "tests_pass", detail: "2 failed\nhere" },
      ]),
      {},
      { shell: true, views },
    );
    expect(text).toContain("# Task\n\nMake it work\n");
    expect(text).toContain("# Acceptance criteria (1 of 2 met)\n\n✓ file_exists a\n✗ tests_pass\n  2 failed\n  here\n");
    expect(text).toContain("one of at most 10 further attempts");
    expect(text).toContain('under "## Steps" in todo.md');
  });

  const noise = "Lorem ipsum dolor sit amet, consetetur sadipscing elitr. ".repeat(400);
  const cases: [string, TaskState, object][] = [
    ["one criterion that printed a lot", stateWith("x", [{ detail: noise.slice(0, 1_500) }]), {}],
    [
      "thirty that printed a lot",
      stateWith(
        "x",
        Array.from({ length: 30 }, () => ({ detail: noise.slice(0, 1_500) })),
      ),
      {},
    ],
    [
      "a hundred with long names",
      stateWith(
        noise,
        Array.from({ length: 100 }, () => ({ criterion: noise.slice(0, 200), detail: noise.slice(0, 1_500) })),
      ),
      {},
    ],
    [
      "notes without an end",
      stateWith(noise, [{ detail: noise }]),
      { history: noise, remediation: noise, steering: noise },
    ],
    [
      "another script",
      stateWith("改善".repeat(3_000), [{ detail: "失敗".repeat(700) }]),
      { history: "履歴".repeat(2_000) },
    ],
    ["colours and boxes", stateWith("x", [{ detail: "\u001b[31m─│┌┐\u001b[0m".repeat(100) }]), {}],
  ];
  const random = (alphabet: string, length: number): string => {
    let seed = 7;
    return Array.from(
      { length },
      () => alphabet[(seed = (Math.imul(seed, 48_271) >>> 0) % 2_147_483_647) % alphabet.length],
    ).join("");
  };
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (const [name, alphabet] of [
    ["base64", letters],
    ["hex", "0123456789abcdef"],
    ["digits", "0123456789"],
    ["punctuation", "{}[]();:,.<>=+-*/!&|^%$#@~`'\""],
    ["emoji", "👩‍🔬🧪🔬📄✅❌"],
    ["Cyrillic and Greek", "абвгдеёжзαβγδεζη"],
    ["letters that make no words", "qxzjkvw"],
    ["words that are none", "qxzjkvwae  "],
  ] as const)
    cases.push([
      name,
      stateWith(
        random(alphabet, 4_000),
        Array.from({ length: 9 }, () => ({ detail: random(alphabet, 1_500) })),
      ),
      { history: random(alphabet, 3_000) },
    ]);

  it("leaves prose the room that is there", () => {
    const prose = "The first test fails because the function returns one instead of two. ".repeat(200);
    const text = briefText(
      stateWith(
        "x",
        Array.from({ length: 9 }, () => ({ detail: prose.slice(0, 1_500) })),
      ),
      {},
      { shell: true, views },
    );
    expect(countTokens(text)).toBeGreaterThan(850);
  });

  it.each(cases)("has at most 2,000 tokens: %s", (_, state, notes) => {
    expect(countTokens(briefText(state, notes, { shell: true, views }))).toBeLessThanOrEqual(2_000);
  });
});
