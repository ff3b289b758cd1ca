import type { LedgerLine } from "../../generated/ledger.js";
import { locateSyntaxError } from "../json-syntax.js";
import { type Problem, problemsOf, type SchemaName } from "../schema-check.js";
import { parseJson, plainText } from "./parse-json.js";

export type Fields = Record<string, unknown>;

/**
 * How new records are numbered when several iterations add records at the same time. Two records are the same if
 * `owner` and `content` are equal. A record with the same owner but other content is the same record, edited by hand,
 * unless another change of the fold made it.
 */
interface Numbering {
  /** Name of the field with the id of the record's owner, such as a paper. */
  readonly owner: string;
  /** Name of the field that distinguishes records of one owner. */
  readonly content: string;
  /** The noun for such a record in messages. */
  readonly noun: string;
  /** The id for a new record, if these ids exist. */
  next(ids: readonly string[]): string;
}

/** An array of records at the top level of the state. */
export interface Collection {
  readonly name: string;
  /** The field of a record that holds its id. */
  readonly key: string;
  /** Absent: each id is used only once, so records with the same id are the same record. */
  readonly numbering?: Numbering;
  /** Whether this value of a field means "undecided", so that it is never kept as a hand edit. */
  isUndecided?(field: string, value: unknown): boolean;
}

/**
 * How records show that a unit of the ledger is accepted. It detects that an editor saved a version from before the
 * acceptance.
 */
interface UnitRecords {
  /** The collection whose records are units; the id of a record is the id of the unit. */
  readonly collection: string;
  /** Whether the record says that its unit is not done yet. */
  isOpen(record: Fields): boolean;
  /** Whether the missing record of a unit was moved to another list of the state; absent: records never move. */
  isMovedAside?(state: Fields, unit: string): boolean;
  /** Whether the accepted unit of this line had a record; undefined if only the journal entry can say. */
  hadRecord(line: LedgerLine): boolean | undefined;
  /** Collections to which an accepted unit adds records. */
  readonly outputCollections: readonly string[];
  /** Fields that a unit sets on records of other units and that people never write. */
  readonly marks: readonly { readonly unit: string; readonly field: string }[];
}

/**
 * The result of parsing a state: the valid state, or all problems. `changes`: values that were read in an older form
 * than the one that is written.
 */
export type Parsed<State> =
  | { readonly ok: State; readonly changes: readonly Problem[]; readonly problems?: undefined }
  | { readonly ok?: undefined; readonly changes: readonly Problem[]; readonly problems: readonly Problem[] };

/** What the record store needs to know about a kind of state. All functions are pure. */
export interface StateFormat<State extends Fields> {
  /** The file of the state, within its folder. */
  readonly file: string;
  /** The log that people read, within the folder; entries are only ever appended. */
  readonly log: string;
  /** The ledger, within the folder. */
  readonly ledger: string;
  /** Other files to which a run appends. */
  readonly otherLogs: readonly string[];
  /** More files that a run reads and rewrites. */
  rewrittenFiles(folder: string): readonly string[];
  /** More folders in which interrupted writes may leave temporary files; these are removed. */
  foldersWithTemporaryFiles(folder: string): readonly string[];
  /** Maximum number of bytes of the state file. */
  readonly maxBytes: number;
  /** The name, in changes and in the journal, of the top level of the file without its collections. */
  readonly top: string;
  /**
   * Names of objects at the top level that changes may name. Only this program writes them, so hand edits are not
   * expected there.
   */
  readonly parts: readonly string[];
  readonly collections: readonly Collection[];
  readonly units: UnitRecords;
  /** The files that are committed to git if they exist, including the state file and the ledger. */
  readonly committed: readonly string[];
  /** The noun for such a folder in messages, as in "The project /a/b". */
  readonly noun: string;
  /** How a person creates such a folder, as the end of a sentence. */
  readonly howToBegin: string;
  /** The command that restores the state after an iteration. */
  resetCommand(folder: string, iteration: number): string;
  /** Parses a text or its bytes; problems about the whole file name `path`. */
  parse(content: string | Buffer, path: string): Parsed<State>;
  /** Serialises a state. */
  format(state: State): string;
  /** The problems that make a state invalid for writing. */
  problemsOf(state: State): readonly Problem[];
  /** The last iteration before the fields of the state were derived; undefined if the state does not say it. */
  iterationOf(state: State): number | undefined;
  /** The phase of the work, as the ledger names it. */
  phaseOf(state: State): string;
}

/** The options by which kinds of work with attempts differ. */
type AttemptsOptions<State extends Fields> = Pick<
  StateFormat<State>,
  "file" | "log" | "ledger" | "top" | "noun" | "howToBegin" | "resetCommand"
> & {
  readonly schema: SchemaName;
  readonly phase: string;
  /** Names of the collections besides `attempts`. */
  readonly otherCollections?: readonly string[];
};

/**
 * The format of work whose iterations are attempts at one unit. The file is strict JSON with a schema, and only this
 * program writes it. An attempt is never open, so an older version of the file can't show it as open.
 */
export const attemptsFormat = <State extends { readonly iteration?: number }>({
  schema,
  phase,
  otherCollections = [],
  ...options
}: AttemptsOptions<State & Fields>): StateFormat<State & Fields> => ({
  ...options,
  otherLogs: [],
  rewrittenFiles: () => [],
  foldersWithTemporaryFiles: () => [],
  maxBytes: 50_000_000,
  parts: ["loop"],
  collections: ["attempts", ...otherCollections].map((name) => ({ name, key: "id" })),
  units: { collection: "attempts", isOpen: () => false, hadRecord: () => false, outputCollections: [], marks: [] },
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
