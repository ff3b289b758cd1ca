import { valueIfCommand, type NeedsTrust } from "../../engine/config/keys.js";
import { partsIn, type TrustedPart } from "../../engine/config/trust.js";
import type { Criterion, RalphTask } from "../generated/ralph.js";
import { criteriaIn } from "./task-file.js";

/** Whether a criterion of this type starts a program: its own command, or a tool of the project. */
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

const trustRules: Readonly<Record<"agent" | "sandbox", NeedsTrust>> = {
  agent: valueIfCommand,
  sandbox: (value) => (value === "host" ? value : undefined),
};

/** The agent and the sandbox that a task file chooses, if they need trust. */
export const agentAndSandboxIn = (task: RalphTask, file: string): TrustedPart[] =>
  partsIn(trustRules, task as unknown as Record<string, unknown>, file);

/** The criteria in a task file that start a program. On the host they need trust. */
export const programCriteriaIn = (task: RalphTask, file: string): TrustedPart[] =>
  criteriaIn(task).flatMap(({ pointer, criterion: { description: _, ...value } }) =>
    startsProgram[value["type"] as Criterion["type"]]
      ? [{ file, key: pointer.slice(1).replaceAll("/", "."), value }]
      : [],
  );

/** The paths outside the workspace (`outsidePaths`) that a task file lets its agents read by its field `context`. */
export const contextIn = (outsidePaths: readonly string[], file: string): TrustedPart[] =>
  outsidePaths.length === 0 ? [] : [{ file, key: "context", value: outsidePaths }];
