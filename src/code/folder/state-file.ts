import { createHash } from "node:crypto";
import { join } from "node:path";
import { hiddenName, lastGoodOf, ledgerName } from "../../engine/lib/layout.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import { locateSyntaxError } from "../../engine/storage/json-syntax.js";
import { parseJson, plainText } from "../../engine/storage/records/parse-json.js";
import type { Parsed, StateFormat } from "../../engine/storage/records/format.js";
import { problemsOf } from "../../engine/storage/schema-check.js";
import type { CodeState, Job } from "../generated/ralph-code.js";
import { codeLogName, codeStateName } from "./layout.js";

/** The phase that the roles of a coding run belong to. */
export const codePhase = "CODE";

function parse(content: string | Buffer, path: string): Parsed<CodeState> {
  let value: unknown;
  try {
    value = parseJson(content);
  } catch {
    const { line, column, message } = locateSyntaxError(plainText(content));
    return { changes: [], problems: [{ pointer: "", message: `${path}:${line}:${column}: ${message}` }] };
  }
  const problems = problemsOf("ralph-code", value);
  return problems.length > 0 ? { changes: [], problems } : { ok: value as CodeState, changes: [] };
}

/** The state of a coding run, for the record store. */
export const codeFormat: StateFormat<CodeState> = {
  file: codeStateName,
  log: codeLogName,
  ledger: `${hiddenName}/${ledgerName}`,
  otherLogs: [],
  rewritten: () => [],
  swept: () => [],
  maxBytes: 50_000_000,
  top: "code",
  parts: ["loop"],
  collections: [
    { name: "attempts", key: "id" },
    { name: "rounds", key: "id" },
  ],
  // A role that has run is no record that an older version would show as still open.
  units: { collection: "attempts", isOpen: () => false, hasRecord: () => false, leaves: [], marks: [] },
  outputs: {},
  committed: [],
  noun: "coding run",
  howToBegin: "research-ralph code begins one",
  resetCommand: (folder) =>
    `cp ${shellWord(lastGoodOf(folder, codeStateName))} ${shellWord(join(folder, codeStateName))}`,
  parse,
  format: (state) => `${JSON.stringify(state, null, 2)}\n`,
  problemsOf: (state) => problemsOf("ralph-code", state),
  iterationOf: ({ iteration }) => iteration,
  phaseOf: () => codePhase,
};

/** The state of a coding run that never began. Its id names it in git; two folders of one repository have two. */
export const newCodeState = (job: Job, folder: string): CodeState => ({
  id: `code-${createHash("sha256").update(folder).digest("hex").slice(0, 8)}`,
  job,
  rounds: [],
  attempts: [],
});
