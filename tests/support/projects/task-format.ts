// A second state of the record store's: a task with criteria that are worked off, and findings that are numbered as
// they come.
import { parseJson } from "../../../src/engine/storage/state/parse-json.js";
import type { Fields, StateFormat } from "../../../src/engine/storage/state/format.js";

interface Criterion extends Fields {
  readonly key: string;
  readonly status: "open" | "met";
}

export interface Task extends Fields {
  readonly title: string;
  readonly criteria: readonly Criterion[];
  readonly findings?: readonly Fields[];
  readonly run?: { readonly last?: number };
}

const problemsOf = (task: Task) =>
  Array.isArray(task.criteria) && task.criteria.every(({ status }) => ["open", "met"].includes(status))
    ? []
    : [{ pointer: "/criteria", message: "must hold criteria that are open or met" }];

export const taskFormat: StateFormat<Task> = {
  file: "task.json",
  log: "log.md",
  ledger: "ledger.jsonl",
  otherLogs: [],
  rewrittenFiles: () => [],
  foldersWithTemporaryFiles: () => [],
  maxBytes: 1_000_000,
  top: "task",
  parts: ["run"],
  collections: [
    { name: "criteria", key: "key", isUndecided: (field, value) => field === "status" && value === "open" },
    {
      name: "findings",
      key: "number",
      numbering: {
        owner: "criterion",
        content: "text",
        noun: "finding",
        next: (ids) => `F${Math.max(0, ...ids.map((id) => Number(id.slice(1)))) + 1}`,
      },
    },
  ],
  units: {
    collection: "criteria",
    isOpen: ({ status }) => status === "open",
    hadRecord: ({ phase }) => phase === "WORK",
    outputCollections: ["findings"],
    marks: [{ unit: "review", field: "reviewed" }],
  },
  committed: ["task.json", "log.md", "ledger.jsonl", "summary.md"],
  noun: "task",
  howToBegin: "write one",
  resetCommand: (folder, iteration) => `task reset ${folder} ${iteration}`,
  parse(text, path) {
    try {
      const task = parseJson(text) as Task;
      const problems = problemsOf(task);
      return problems.length === 0 ? { ok: task, changes: [] } : { changes: [], problems };
    } catch {
      return { changes: [], problems: [{ pointer: "", message: `${path} is not JSON` }] };
    }
  },
  format: (task) => `${JSON.stringify(task)}\n`,
  problemsOf,
  iterationOf: ({ run }) => run?.last,
  phaseOf: ({ criteria }) => (criteria.every(({ status }) => status === "met") ? "DONE" : "WORK"),
};
