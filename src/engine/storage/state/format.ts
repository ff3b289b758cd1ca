import type { LedgerLine } from "../../generated/ledger.js";
import { locateSyntaxError } from "../json-syntax.js";
import { type Problem, problemsOf, type SchemaName } from "../schema-check.js";
import { parseJson, plainText } from "./parse-json.js";

export type Fields = Record<string, unknown>;

/**
 * How records are numbered that one iteration adds while others may add theirs. Two records are the same where `owner`
 * and `content` are equal; one with the same owner and another content, which no other change of the fold made, is the
 * same one edited by hand.
 */
interface Numbering {
  /** Field that names what the record belongs to. */
  readonly owner: string;
  /** Field that tells records of one owner apart. */
  readonly content: string;
  /** What a person calls such a record. */
  readonly noun: string;
  /** The id that follows these. */
  next(ids: readonly string[]): string;
}

/** An array of records at the top level of the state. */
export interface Collection {
  readonly name: string;
  /** The field of a record that holds its id. */
  readonly key: string;
  /** Absent: an id is given once, and a record under it is that record. */
  readonly numbering?: Numbering;
  /** Whether nobody decides anything by this value of a field, so that it is never a hand edit to keep. */
  isUndecided?(field: string, value: unknown): boolean;
}

/**
 * How the ledger's units show in the records: by this it is seen that an editor saved a version from before one was
 * accepted.
 */
interface UnitRecords {
  /** The collection whose records are units, under their own ids. */
  readonly collection: string;
  /** Whether the record says that its unit is still to be done. */
  isOpen(record: Fields): boolean;
  /** Whether the state tells where the record of a unit went that is not in its collection; absent: it never does. */
  isPutAside?(state: Fields, unit: string): boolean;
  /** Whether the accepted unit of this line had a record; undefined where only its journal entry tells. */
  hadRecord(line: LedgerLine): boolean | undefined;
  /** Collections in which an accepted unit leaves records of its own. */
  readonly leaves: readonly string[];
  /** Fields that a unit sets on other units' records and no person writes. */
  readonly marks: readonly { readonly unit: string; readonly field: string }[];
}

/**
 * A text read as a state: valid, or every problem found. `changes`: what was read in another shape than the one that is
 * written.
 */
export type Parsed<State> =
  | { readonly ok: State; readonly changes: readonly Problem[]; readonly problems?: undefined }
  | { readonly ok?: undefined; readonly changes: readonly Problem[]; readonly problems: readonly Problem[] };

/** What the record store has to know of the state that it keeps in a folder. Everything here is pure. */
export interface StateFormat<State extends Fields> {
  /** The file of the state, within its folder. */
  readonly file: string;
  /** The log that people read, within the folder; entries are only ever appended. */
  readonly log: string;
  /** The ledger, within the folder. */
  readonly ledger: string;
  /** Other files that are appended to while work goes on. */
  readonly otherLogs: readonly string[];
  /** Further files that a run writes again, made of what it read in them. */
  rewritten(folder: string): readonly string[];
  /** Further folders in which files are written atomically, so that what interrupted writes left is swept there. */
  swept(folder: string): readonly string[];
  /** A larger file is something else. */
  readonly maxBytes: number;
  /** How a change names the top level of the file without its collections, in the journal too. */
  readonly top: string;
  /**
   * Objects of the top level that a change may name. Only this program writes in them, so no hand edit is looked for
   * there.
   */
  readonly parts: readonly string[];
  readonly collections: readonly Collection[];
  readonly units: UnitRecords;
  /** What is kept in git, as far as it is there; the file of the state and the ledger among it. */
  readonly committed: readonly string[];
  /** What a person calls such a folder, as in "The project /a/b". */
  readonly noun: string;
  /** What to do where there is no such folder, as the end of a sentence. */
  readonly howToBegin: string;
  /** The command that goes back to the state after an iteration. */
  resetCommand(folder: string, iteration: number): string;
  /** Reads a text, or its bytes; `path` is named in problems about the whole file. */
  parse(content: string | Buffer, path: string): Parsed<State>;
  /** The text of a state as it is written. */
  format(state: State): string;
  /** What keeps a state from being written. */
  problemsOf(state: State): readonly Problem[];
  /** The last iteration that the state was derived after, where it says so. */
  iterationOf(state: State): number | undefined;
  /** The phase of the work, as the ledger names it. */
  phaseOf(state: State): string;
}

/** What tells one kind of work kept as attempts from another. */
type OwnOfAttempts<State extends Fields> = Pick<
  StateFormat<State>,
  "file" | "log" | "ledger" | "top" | "noun" | "howToBegin" | "resetCommand"
> & {
  readonly schema: SchemaName;
  readonly phase: string;
  /** Collections with an id besides the attempts. */
  readonly others?: readonly string[];
};

/**
 * The format of work whose iterations are attempts at one unit: the file is strict JSON as its schema has it, only this
 * program writes it, and no attempt is a record that an older version would show as still open.
 */
export const attemptsFormat = <State extends { readonly iteration?: number }>({
  schema,
  phase,
  others = [],
  ...own
}: OwnOfAttempts<State & Fields>): StateFormat<State & Fields> => ({
  ...own,
  otherLogs: [],
  rewritten: () => [],
  swept: () => [],
  maxBytes: 50_000_000,
  parts: ["loop"],
  collections: ["attempts", ...others].map((name) => ({ name, key: "id" })),
  units: { collection: "attempts", isOpen: () => false, hadRecord: () => false, leaves: [], marks: [] },
  committed: [],
  parse(content, path) {
    let value: unknown;
    try {
      value = parseJson(content);
    } catch {
      const { line, column, message } = locateSyntaxError(plainText(content));
      return { changes: [], problems: [{ pointer: "", message: `${path}:${line}:${column}: ${message}` }] };
    }
    const problems = problemsOf(schema, value);
    return problems.length > 0 ? { changes: [], problems } : { ok: value as State & Fields, changes: [] };
  },
  format: (state) => `${JSON.stringify(state, null, 2)}\n`,
  problemsOf: (state) => problemsOf(schema, state),
  iterationOf: ({ iteration }) => iteration,
  phaseOf: () => phase,
});
