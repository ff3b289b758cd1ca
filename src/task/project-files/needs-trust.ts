import { commandAmong, type NeedsTrust } from "../../engine/config/keys.js";
import { partsIn, type TrustedPart } from "../../engine/config/trust.js";
import type { Criterion, RalphTask } from "../generated/ralph.js";
import { criteriaIn } from "./task-file.js";

/** Criteria that start a program: their own command, or what the project is set up for. */
const startsProgram: Readonly<Record<Criterion["type"], boolean>> = {
  command_succeeds: true,
  tests_pass: true,
  new_test_passes: true,
  no_type_errors: true,
  lint_clean: true,
  coverage: true,
  file_exists: false,
  contains_text: false,
  json_valid: false,
  http_ok: false,
  all_of: false,
  any_of: false,
  not: false,
};

const needs: Readonly<Record<"agent" | "sandbox", NeedsTrust>> = {
  agent: commandAmong,
  sandbox: (value) => (value === "host" ? value : undefined),
};

/** The agent and the sandbox that a task in a file chooses, where they need trust. */
export const choicesIn = (task: RalphTask, file: string): TrustedPart[] =>
  partsIn(needs, task as unknown as Record<string, unknown>, file);

/** The criteria of a task in a file that start a program: on the host they need trust. */
export const commandsIn = (task: RalphTask, file: string): TrustedPart[] =>
  criteriaIn(task).flatMap(({ pointer, criterion: { description: _, ...value } }) =>
    startsProgram[value["type"] as Criterion["type"]]
      ? [{ file, key: pointer.slice(1).replaceAll("/", "."), value }]
      : [],
  );

/** What a task in a file lets its agents read outside of the workspace: `outside`, of its `context`. */
export const contextIn = (outside: readonly string[], file: string): TrustedPart[] =>
  outside.length === 0 ? [] : [{ file, key: "context", value: outside }];
