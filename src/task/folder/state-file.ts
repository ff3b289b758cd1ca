import { createHash } from "node:crypto";
import { locateSyntaxError } from "../../engine/storage/json-syntax.js";
import { parseJson, plainText } from "../../engine/storage/records/parse-json.js";
import type { Parsed, StateFormat } from "../../engine/storage/records/format.js";
import { problemsOf } from "../../engine/storage/schema-check.js";
import type { RalphTask } from "../generated/ralph.js";
import type { TaskState } from "../generated/ralph-state.js";
import { logName, stateName, taskLedger } from "./layout.js";

/** The one unit of a task, its attempts, and the phase that they belong to. */
export const unitId = "task";
export const taskPhase = "TASK";

function parse(content: string | Buffer, path: string): Parsed<TaskState> {
  let value: unknown;
  try {
    value = parseJson(content);
  } catch {
    const { line, column, message } = locateSyntaxError(plainText(content));
    return { changes: [], problems: [{ pointer: "", message: `${path}:${line}:${column}: ${message}` }] };
  }
  const problems = problemsOf("ralph-state", value);
  return problems.length > 0 ? { changes: [], problems } : { ok: value as TaskState, changes: [] };
}

/** The state of a task, for the record store. */
export const taskFormat: StateFormat<TaskState> = {
  file: stateName,
  log: logName,
  ledger: taskLedger,
  otherLogs: [],
  rewritten: () => [],
  swept: () => [],
  maxBytes: 50_000_000,
  top: "task",
  parts: ["loop"],
  collections: [{ name: "attempts", key: "id" }],
  // Attempts are iterations of one unit: none of them is a record that an older version would show as still open.
  units: { collection: "attempts", isOpen: () => false, hasRecord: () => false, leaves: [], marks: [] },
  outputs: {},
  committed: [],
  noun: "task",
  howToBegin: "research-ralph task begins one",
  resetCommand: (_folder, iteration) => `research-ralph task --undo ${iteration}`,
  parse,
  format: (state) => `${JSON.stringify(state, null, 2)}\n`,
  problemsOf: (state) => problemsOf("ralph-state", state),
  iterationOf: ({ iteration }) => iteration,
  phaseOf: () => taskPhase,
};

/**
 * The state of a task that was never worked on. `source`: the file it was read from; absent: the command line. Its id
 * names it in git; two folders of one repository have two.
 */
export function newState(task: RalphTask, folder: string, source: string | undefined): TaskState {
  const words = task.task
    .toLowerCase()
    .normalize("NFKD")
    .split(/[^a-z0-9]/)
    .filter((word) => word !== "")
    .join("-")
    .slice(0, 32);
  const hash = createHash("sha256")
    .update(JSON.stringify([folder, source ?? task.task]))
    .digest("hex")
    .slice(0, 8);
  return {
    id: words === "" ? hash : `${words.endsWith("-") ? words.slice(0, -1) : words}-${hash}`,
    ...(source === undefined ? {} : { source }),
    task,
    checks: [],
    attempts: [],
  };
}
