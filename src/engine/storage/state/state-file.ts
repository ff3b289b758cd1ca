import { isUtf8 } from "node:buffer";
import { join } from "node:path";
import type { LedgerLine } from "../../generated/ledger.js";
import { ExpectedError, hasCode } from "../../lib/errors.js";
import { lastGoodOf } from "../../lib/layout.js";
import { inodeAt, type Stamp, stampOf, timeStepAt, writeFileAtomic } from "../atomic-file.js";
import { explainSystemError } from "../explain-system-error.js";
import { agreedContent } from "../guard/own-writes.js";
import { readRegularUpTo } from "../regular-file.js";
import { linesOf, repeatedName } from "../json-syntax.js";
import type { Problem } from "../schema-check.js";
import { readOnceSaved } from "./hand-edits/wait-for-editor.js";
import { backUp } from "./backup.js";
import type { Fields, Parsed, StateFormat } from "./format.js";
import { isNewer, newerFormat, requireKnownText } from "./format-version.js";
import { lastJournalled } from "./journal.js";
import { plainText } from "./parse-json.js";
import { parseLedger, readLedger } from "./ledger.js";
import { logText } from "./log-lines.js";

/** The state file of an open folder, parsed once for each version of the file. */
interface StateFile<State> {
  /** @throws ExpectedError when the file is invalid or gone. */
  read(): Promise<{ readonly state: State; readonly stamp: Stamp }>;
  /** Writes a new version in place of the one with `stamp`; false when the file has changed since. */
  replace(state: State, stamp: Stamp): Promise<boolean>;
  /** Brings the copy of the last good version up to date. */
  keepCopy(): Promise<void>;
}

interface Version<State> {
  readonly state: State;
  readonly stamp: Stamp;
  readonly bytes: Buffer;
  readonly readAt: number;
  /** When the file system says that anything of it was changed: unlike its time of change, nobody can set that back. */
  readonly changedAt: number;
  /** How many of its values were read in another shape than the one that is written. */
  readonly changes: number;
  /** Whether this store wrote it: then no name stands twice in it. */
  readonly isOwn: boolean;
}

export function openStateFile<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  notify: (message: string) => void,
): StateFile<State> {
  const path = join(folder, format.file);
  let known: Version<State> | undefined;
  let copied: Buffer | undefined;

  const readNow = async (found: Stamp | undefined): Promise<Version<State>> => {
    if (found === undefined) await requireState(folder, format);
    const stamp = found ?? stampOf(path) ?? "";
    const changedAt = inodeAt(path)?.ctimeMs ?? 0;
    const isSame = known?.stamp === stamp && known.changedAt === changedAt;
    if (known !== undefined && isSame && known.readAt - changedAt > timeStepAt(changedAt)) return known;

    // By what it holds: two edits within a time step of the file system have one time.
    // While an agent works that could forge the file, what is agreed to stand there counts.
    const agreed = agreedContent(path);
    const bytes = Buffer.isBuffer(agreed) ? agreed : await readBytes(path, format.maxBytes);
    if (typeof bytes !== "number" && known?.bytes.equals(bytes) === true)
      return (known = { ...known, stamp, readAt: Date.now(), changedAt });
    const read = parsed(path, bytes, format);
    if (typeof bytes === "number" || read.problems !== undefined)
      throw await invalid(folder, format, read.problems ?? []);
    if (isNewer(read.ok)) throw newerFormat(path, read.ok);
    return (known = {
      ...{ state: read.ok, stamp, bytes, readAt: Date.now(), changedAt },
      ...{ changes: read.changes.length, isOwn: false },
    });
  };

  return {
    read: () => readOnceSaved(path, readNow),
    async replace(state, stamp) {
      const bytes = Buffer.from(format.format(state));
      if (known?.bytes.equals(bytes) === true) return true;
      // What an object was read as may say less than the object did.
      const twice = known === undefined || known.isOwn ? undefined : repeatedName(plainText(known.bytes));
      const saysMore = twice !== undefined || (known?.changes ?? 0) > 0;
      const backup = saysMore ? await backUp(folder, Date.now(), [format.file]) : undefined;
      const written = await writeFileAtomic(path, bytes, { ifStill: stamp });
      if (written === undefined) return false;
      if (backup !== undefined && twice !== undefined)
        notify(
          `${format.file} had ${twice} twice in one object, and the last one counts; the version with both is in ${backup}.`,
        );
      else if (backup !== undefined)
        notify(
          `${format.file} is now written in the current format; the previous version is ${backup}, and 'research-ralph validate' on it says what differs.`,
        );
      known = { state, stamp: written, bytes, readAt: Date.now(), changedAt: 0, changes: 0, isOwn: true };
      return true;
    },
    async keepCopy() {
      if (known === undefined || known.bytes === copied) return;
      const { bytes } = known;
      // The copy helps after a mistake by a person, not after a power cut, so it is not worth a sync.
      await writeFileAtomic(lastGoodOf(folder, format.file), bytes, { durable: false });
      copied = bytes;
    },
  };
}

/**
 * What the bytes of a state file say; a number: it has so many, which is too many. @throws ExpectedError where a later
 * version wrote it (exit 5).
 */
function parsed<State extends Fields>(path: string, bytes: Buffer | number, format: StateFormat<State>): Parsed<State> {
  if (typeof bytes === "number")
    return { changes: [], problems: [tooLarge(path, bytes, format.maxBytes, format.noun)] };
  // Read on, every letter outside ASCII would be lost with the next write.
  const notText = { pointer: "", message: `${path} is not UTF-8`, hint: "Save it as UTF-8 in your editor." };
  if (!isUtf8(bytes)) return { changes: [], problems: [notText] };
  const read = format.parse(bytes, path);
  if (read.problems === undefined) return read;
  requireKnownText(path, bytes);
  if (read.problems.every(({ pointer }) => pointer === "")) return read;
  const text = plainText(bytes);
  const lines = linesOf(
    text,
    read.problems.map(({ pointer }) => pointer),
  );
  const problems = read.problems.map((problem, index) =>
    problem.pointer === "" || lines[index] === undefined ? problem : { ...problem, line: lines[index] },
  );
  return { ...read, problems };
}

async function readBytes(path: string, maxBytes: number): Promise<Buffer | number> {
  try {
    return await readRegularUpTo(path, maxBytes);
  } catch (error) {
    if (hasCode(error, "ENOENT")) throw new ExpectedError(`There is no ${path}.`);
    throw explainSystemError(error, path);
  }
}

/** A file of `size` bytes where at most `maxBytes` are read. */
export const tooLarge = (path: string, size: number, maxBytes: number, noun: string): Problem => ({
  pointer: "",
  message: `${path} is ${Math.round(size / 1_000_000)} MB, more than the ${maxBytes / 1_000_000} MB a ${noun} can have`,
});

/**
 * Reads and parses the file at `path`, which need not lie in a folder of its own.
 * @throws ExpectedError when there is no such file, it can't be read, or it is not valid because a later version wrote
 * it (exit 5).
 */
export const readStateFile = async <State extends Fields>(
  path: string,
  format: StateFormat<State>,
): Promise<Parsed<State>> => parsed(path, await readBytes(path, format.maxBytes), format);

/** One sentence for an invalid file: its first three problems and how many more there are. */
export function summarise(path: string, problems: readonly Problem[]): string {
  const named = problems.slice(0, 3).map(({ pointer, line, message, hint }) => {
    const place = pointer === "" ? "" : `${line === undefined ? "" : `line ${line}, `}${pointer} `;
    return `${place}${message}${hint === undefined ? "" : ` (${hint.replace(/\.$/, "")})`}`;
  });
  // A problem of the whole file names it, with the line where that is known.
  if (problems.length === 1 && named[0]?.startsWith(path)) return named[0];
  const more = problems.length > 3 ? `; and ${problems.length - 3} more` : "";
  return `${path} is not valid: ${named.join("; ")}${more}`;
}

/**
 * Says what to do where there is no state file.
 * @throws ExpectedError unless there is one.
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
 * The highest number of an iteration; 0 before the first. One that only the journal holds yet must not be taken back
 * with the rest.
 */
export async function lastRecorded(folder: string, ledger: string): Promise<number> {
  const { lines } = await readLedger(folder, ledger);
  return lines.reduce((highest, line) => Math.max(highest, line.iteration), lastJournalled(folder));
}

/** How a person whose state file can't be used gets an earlier one back. */
export async function wayBack<State extends Fields>(folder: string, format: StateFormat<State>): Promise<string> {
  const lastGood = lastGoodOf(folder, format.file);
  if (stampOf(lastGood) === undefined) return "or put an earlier version in its place";
  return `or restore the last good version (${lastGood}) with '${format.resetCommand(folder, await lastRecorded(folder, format.ledger))}'; your version is kept too`;
}

/** What to tell a person whose state file can't be used, and the way back. */
export async function invalid<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  problems: readonly Problem[],
): Promise<ExpectedError> {
  const back = `, ${await wayBack(folder, format)}.`;
  // A word that no version has had so far, and no slip of the hand either.
  const isNews = problems.some(({ message, hint }) => message.startsWith("must be one of") && hint === undefined);
  const update = isNews ? "Update research-ralph if a later version wrote it, correct it" : "Correct it";
  return new ExpectedError(`${summarise(join(folder, format.file), problems)}. ${update}${back}`);
}

/**
 * The ledger at `path`, read again only when the file has changed; of what was appended only that is parsed.
 */
export function openLedger(path: string, notify: (message: string) => void): () => Promise<readonly LedgerLine[]> {
  let known: { stamp?: Stamp | undefined; text: string; lines: readonly LedgerLine[] } = { text: "", lines: [] };
  const told = new Set<string>();
  return async () => {
    const stamp = stampOf(path);
    if (stamp === known.stamp) return known.lines;
    const text = await logText(path);
    // One that ended in the middle of a line is parsed again.
    const whole = known.text.slice(0, known.text.lastIndexOf("\n") + 1);
    const isLonger = whole === known.text && text.startsWith(whole);
    const { lines, notices } = isLonger
      ? parseLedger(text.slice(whole.length), path, whole.split("\n").length)
      : parseLedger(text, path);
    for (const notice of notices.filter((each) => !told.has(each))) {
      told.add(notice);
      notify(notice);
    }
    known = { stamp, text, lines: isLonger ? [...known.lines, ...lines] : lines };
    return known.lines;
  };
}
