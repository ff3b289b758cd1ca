// Generated from schemas/journal.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * .ralph/journal/<iteration>.json: everything one fold is about to write, on disk before the first file is written. It is replayed at start, so a kill at any instant loses nothing. When everything is written, it is moved to .ralph/journal/done/, where a reset finds it.
 */
export interface JournalEntry {
  /**
   * How the entry is written; absent: 1.
   */
  format?: number;
  iteration: number;
  at: string;
  /**
   * Subject of the git commit.
   */
  message: string;
  /**
   * Changes of the state file by record and field; 'was' lets a hand edit made meanwhile win.
   */
  changes: {
    /**
     * An array of records of the state file, its own top level, or an object of it.
     */
    in: string;
    /**
     * The record's id; absent for anything but a record.
     */
    id?: string;
    /**
     * Fields and their new values.
     */
    set: {
      [k: string]: unknown;
    };
    /**
     * The record as it was read, or of the file's top level the same fields; null for a new record.
     */
    was?: {
      [k: string]: unknown;
    } | null;
    /**
     * Fields to remove; used only by a reset.
     */
    unset?: string[];
    /**
     * Removes the record; 'set' is then empty.
     */
    remove?: boolean;
    /**
     * Array fields to which values are added if absent.
     */
    add?: {
      [k: string]: unknown[];
    };
    [k: string]: unknown;
  }[];
  progress: {
    /**
     * Size of the log (progress.txt) before, in bytes.
     */
    offset: number;
    text: string;
    [k: string]: unknown;
  } | null;
  ledger: {
    offset: number;
    /**
     * The line, with its line feed.
     */
    text: string;
    [k: string]: unknown;
  };
  /**
   * Lines for other logs of the folder, such as answers.jsonl.
   */
  appends?: {
    name: string;
    /**
     * Size of the file before, in bytes.
     */
    offset: number;
    /**
     * The lines, each with its line feed.
     */
    text: string;
    [k: string]: unknown;
  }[];
  /**
   * Of the last of several entries that are written at once: SHA-256 of what their changes, together, made of the objects that only this program writes. Where it is that of the state file, these changes have taken effect.
   */
  parts_sha256?: string;
  /**
   * Of a reset that takes an earlier one back: the files that are put back from that one's backup.
   */
  restores?: {
    /**
     * The folder in .ralph/backups.
     */
    backup: string;
    /**
     * Files of the project; one that the backup lacks is removed.
     */
    names: string[];
    [k: string]: unknown;
  };
  /**
   * Whole files to write, such as the report, or to remove.
   */
  files?: {
    name: string;
    /**
     * null removes the file; used only by a reset.
     */
    text: string | null;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
