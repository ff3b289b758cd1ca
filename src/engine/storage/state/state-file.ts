import { isUtf8 } from "node:buffer";
import { join } from "node:path";
import type { LedgerLine } from "../../generated/ledger.js";
import { ExpectedError, InvalidStateError, hasCode } from "../../lib/errors.js";
import { lastGoodOf } from "../../lib/layout.js";
import { inodeAt, type Stamp, stampOf, timeStepMsAt, writeFileAtomic } from "../atomic-file.js";
import { explainSystemError } from "../explain-system-error.js";
import { recordedContent } from "../guard/own-writes.js";
import { readRegularUpTo } from "../regular-file.js";
import { linesOf, findRepeatedName } from "../json-syntax.js";
import type { Problem } from "../schema-check.js";
import { readWhenSaved } from "./hand-edits/wait-for-editor.js";
import { backUp } from "./backup.js";
import type { Fields, Parsed, StateFormat } from "./format.js";
import { isNewer, newerFormat, requireKnownText } from "./format-version.js";
import { lastJournalledIteration } from "./journal.js";
import { plainText } from "./parse-json.js";
import { parseLedger, readLedger } from "./ledger.js";
import { readLogText } from "./log-lines.js";

/** The state file of an open folder. Each version of the file is parsed only once. */
interface StateFile<State> {
  /** @throws ExpectedError when the file is invalid or gone. */
  read(): Promise<{ readonly state: State; readonly stamp: Stamp }>;
  /** Replaces the version with `stamp` by a new one; false if the file has changed since. */
  replace(state: State, stamp: Stamp): Promise<boolean>;
  /** Updates the copy of the last good version. */
  keepCopy(): Promise<void>;
}

interface Version<State> {
  readonly state: State;
  readonly stamp: Stamp;
  readonly bytes: Buffer;
  readonly readAt: number;
  /** The change time (ctime). Unlike the modification time, no program can set it back. */
  readonly changedAt: number;
  /** Number of values that were read in an older form and are written in the current one. */
  readonly changes: number;
  /** Whether this program wrote it; then no name occurs twice in an object. */
  readonly isOwn: boolean;
}

export function openStateFile<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  notify: (message: string) => void,
): StateFile<State> {
  const path = join(folder, format.file);
  let cached: Version<State> | undefined;
  let copiedBytes: Buffer | undefined;

  const readNow = async (currentStamp: Stamp | undefined): Promise<Version<State>> => {
    if (currentStamp === undefined) await requireState(folder, format);
    const stamp = currentStamp ?? stampOf(path) ?? "";
    const changedAt = inodeAt(path)?.ctimeMs ?? 0;
    const isSame = cached?.stamp === stamp && cached.changedAt === changedAt;
    if (cached !== undefined && isSame && cached.readAt - changedAt > timeStepMsAt(changedAt)) return cached;

    // Compare the content, because two edits within a time step of the file system have the same time.
    // While an agent works that could forge the file, the content that the guard recorded is used.
    const recorded = recordedContent(path);
    const bytes = Buffer.isBuffer(recorded) ? recorded : await readBytes(path, format.maxBytes);
    if (typeof bytes !== "number" && cached?.bytes.equals(bytes) === true)
      return (cached = { ...cached, stamp, readAt: Date.now(), changedAt });
    const result = parseBytes(path, bytes, format);
    if (typeof bytes === "number" || result.problems !== undefined)
      throw await invalidStateError(folder, format, result.problems ?? []);
    if (isNewer(result.ok)) throw newerFormat(path, result.ok);
    return (cached = {
      state: result.ok,
      stamp,
      bytes,
      readAt: Date.now(),
      changedAt,
      changes: result.changes.length,
      isOwn: false,
    });
  };

  return {
    read: () => readWhenSaved(path, readNow),
    async replace(state, stamp) {
      const bytes = Buffer.from(format.format(state));
      if (cached?.bytes.equals(bytes) === true) return true;
      // The parsed object may contain less than the text.
      const repeatedField =
        cached === undefined || cached.isOwn ? undefined : findRepeatedName(plainText(cached.bytes));
      const losesContent = repeatedField !== undefined || (cached?.changes ?? 0) > 0;
      const backup = losesContent ? await backUp(folder, Date.now(), [format.file]) : undefined;
      const newStamp = await writeFileAtomic(path, bytes, { expectedStamp: stamp });
      if (newStamp === undefined) return false;
      if (backup !== undefined && repeatedField !== undefined)
        notify(
          `${format.file} had ${repeatedField} twice in one object, and the last one counts; the version with both is in ${backup}.`,
        );
      else if (backup !== undefined)
        notify(
          `${format.file} is now written in the current format; the previous version is ${backup}, and 'research-ralph verify --files' on it says what differs.`,
        );
      cached = { state, stamp: newStamp, bytes, readAt: Date.now(), changedAt: 0, changes: 0, isOwn: true };
      return true;
    },
    async keepCopy() {
      if (cached === undefined || cached.bytes === copiedBytes) return;
      const { bytes } = cached;
      // The copy is for mistakes of the user, not for power cuts, so it needs no sync.
      await writeFileAtomic(lastGoodOf(folder, format.file), bytes, { isDurable: false });
      copiedBytes = bytes;
    },
  };
}

/**
 * Parses the bytes of a state file. A number instead of bytes is the size of a file that is too large.
 * @throws ExpectedError if a later version wrote it (exit 5).
 */
function parseBytes<State extends Fields>(
  path: string,
  bytes: Buffer | number,
  format: StateFormat<State>,
): Parsed<State> {
  if (typeof bytes === "number")
    return { changes: [], problems: [tooLargeProblem(path, bytes, format.maxBytes, format.noun)] };
  // If it were parsed, the next write would lose every letter outside ASCII.
  const encodingProblem = { pointer: "", message: `${path} is not UTF-8`, hint: "Save it as UTF-8 in your editor." };
  if (!isUtf8(bytes)) return { changes: [], problems: [encodingProblem] };
  const result = format.parse(bytes, path);
  if (result.problems === undefined) return result;
  requireKnownText(path, bytes);
  if (result.problems.every(({ pointer }) => pointer === "")) return result;
  const text = plainText(bytes);
  const lines = linesOf(
    text,
    result.problems.map(({ pointer }) => pointer),
  );
  const problems = result.problems.map((problem, index) =>
    problem.pointer === "" || lines[index] === undefined ? problem : { ...problem, line: lines[index] },
  );
  return { ...result, problems };
}

async function readBytes(path: string, maxBytes: number): Promise<Buffer | number> {
  try {
    return await readRegularUpTo(path, maxBytes);
  } catch (error) {
    if (hasCode(error, "ENOENT")) throw new ExpectedError(`There is no ${path}.`);
    throw explainSystemError(error, path);
  }
}

/** The problem of a file with `size` bytes where at most `maxBytes` are allowed. */
export const tooLargeProblem = (path: string, size: number, maxBytes: number, noun: string): Problem => ({
  pointer: "",
  message: `${path} is ${Math.round(size / 1_000_000)} MB, more than the ${maxBytes / 1_000_000} MB a ${noun} can have`,
});

/**
 * Reads and parses the state file at `path`, which may be in any folder.
 * @throws ExpectedError when there is no such file, it can't be read, or it is not valid because a later version wrote
 * it (exit 5).
 */
export const readStateFile = async <State extends Fields>(
  path: string,
  format: StateFormat<State>,
): Promise<Parsed<State>> => parseBytes(path, await readBytes(path, format.maxBytes), format);

/** One sentence for an invalid file: its first three problems and the number of the others. */
export function summarise(path: string, problems: readonly Problem[]): string {
  const problemTexts = problems.slice(0, 3).map(({ pointer, line, message, hint }) => {
    const place = pointer === "" ? "" : `${line === undefined ? "" : `line ${line}, `}${pointer} `;
    return `${place}${message}${hint === undefined ? "" : ` (${hint.replace(/\.$/, "")})`}`;
  });
  // A problem of the whole file contains the path, and the line if it is known.
  if (problems.length === 1 && problemTexts[0]?.startsWith(path)) return problemTexts[0];
  const moreText = problems.length > 3 ? `; and ${problems.length - 3} more` : "";
  return `${path} is not valid: ${problemTexts.join("; ")}${moreText}`;
}

/**
 * Requires that the state file exists.
 * @throws ExpectedError otherwise; it says what to do.
 */
export async function requireState<State extends Fields>(folder: string, format: StateFormat<State>): Promise<void> {
  const path = join(folder, format.file);
  if (stampOf(path) !== undefined) return;
  if (stampOf(folder) === undefined)
    throw new ExpectedError(`The ${format.noun} folder ${folder} is gone; run again where it is now, or restore it.`);
  const lastGood = lastGoodOf(folder, format.file);
  if (stampOf(lastGood) !== undefined)
    throw new ExpectedError(`There is no ${path}; copy its last good version, ${lastGood}, there.`);
  throw new ExpectedError(`There is no ${path}; ${format.howToBegin}.`);
}

/**
 * The highest number of an iteration, in the ledger or the journal; 0 before the first one. The journal counts, because
 * a reset to this number must not undo an iteration that only the journal has.
 */
export async function lastRecordedIteration(folder: string, ledger: string): Promise<number> {
  const { lines } = await readLedger(folder, ledger);
  return lines.reduce((highest, line) => Math.max(highest, line.iteration), lastJournalledIteration(folder));
}

/** How a person can restore an earlier version of a state file that can't be used, as the end of a sentence. */
export async function restoreHint<State extends Fields>(folder: string, format: StateFormat<State>): Promise<string> {
  const lastGood = lastGoodOf(folder, format.file);
  if (stampOf(lastGood) === undefined) return "or put an earlier version in its place";
  return `or restore the last good version with '${format.resetCommand(folder, await lastRecordedIteration(folder, format.ledger))}'; your version is kept too`;
}

/** The error for a state file that can't be used; it says how to restore an earlier version. */
export async function invalidStateError<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  problems: readonly Problem[],
): Promise<ExpectedError> {
  const instructions = `, ${await restoreHint(folder, format)}.`;
  // An unknown value that is not similar to a known one: a later version may have written it.
  const hasUnknownValue = problems.some(
    ({ message, hint }) => message.startsWith("must be one of") && hint === undefined,
  );
  const update = hasUnknownValue ? "Update research-ralph if a later version wrote it, correct it" : "Correct it";
  return new InvalidStateError(`${summarise(join(folder, format.file), problems)}. ${update}${instructions}`);
}

/**
 * Returns a reader of the ledger at `path`. It reads the file only after a change, and parses only appended lines.
 */
export function openLedger(path: string, notify: (message: string) => void): () => Promise<readonly LedgerLine[]> {
  let cached: { stamp?: Stamp; text: string; lines: readonly LedgerLine[] } = { text: "", lines: [] };
  const reportedNotices = new Set<string>();
  return async () => {
    const stamp = stampOf(path);
    if (stamp === cached.stamp) return cached.lines;
    const text = await readLogText(path);
    // A text that ended in the middle of a line is parsed again.
    const completeLines = cached.text.slice(0, cached.text.lastIndexOf("\n") + 1);
    const isAppended = completeLines === cached.text && text.startsWith(completeLines);
    const { lines, notices } = isAppended
      ? parseLedger(text.slice(completeLines.length), path, completeLines.split("\n").length)
      : parseLedger(text, path);
    for (const notice of notices.filter((text) => !reportedNotices.has(text))) {
      reportedNotices.add(notice);
      notify(notice);
    }
    cached = { stamp, text, lines: isAppended ? [...cached.lines, ...lines] : lines };
    return cached.lines;
  };
}
