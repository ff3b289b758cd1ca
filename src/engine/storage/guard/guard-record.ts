import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { ExpectedError, hasCode, messageOf } from "../../lib/errors.js";
import { lockName } from "../../lib/layout.js";
import { killLeftovers, ownMarkPrefix } from "../../process/descendants.js";
import { isSameProcess, startTimeOf } from "../../process/process-identity.js";
import { writeFileAtomic } from "../atomic-file.js";
import { withExplainedErrors } from "../explain-system-error.js";
import { withLock } from "../lock.js";
import { makeFolder } from "../regular-file.js";
import type { Version } from "./file-snapshot.js";
import {
  type GuardEntry,
  type Guard,
  type GuardSettings,
  openGuard,
  type GuardRecord,
  type RememberedFile,
} from "./guard.js";

/**
 * The first line of a guard's memory on the disk, which is written before the agent starts. Each guard has one file.
 * The first line names the process; every other line describes one path, and the last line of a path is valid. The file
 * is in the state folder of the user, even if a configuration moves the state folder of a project: its place must not
 * depend on anything that an agent could have written. It is not visible in sandboxes.
 */
interface Header<EntryData> extends GuardSettings {
  readonly pid: number;
  readonly started?: string;
  readonly host: string;
  /**
   * The prefix of the marks of this process's agents: after a kill, it finds agents that still run. Absent in old
   * records.
   */
  readonly starter?: string;
  /** Data from which the caller of `openRecordedGuard` builds its entries again. */
  readonly about: EntryData;
}

interface Line {
  readonly path: string;
  readonly kind?: Version["kind"];
  readonly mode?: number;
  readonly to?: string;
  /** Base64. */
  readonly bytes?: string;
  readonly stamp?: string;
  readonly sha256?: string;
}

/** Opens a guard with a record in `folder`; after a kill, the next start restores files from the record. */
export async function openRecordedGuard(
  folder: string,
  about: unknown,
  settings: GuardSettings,
  entries: readonly GuardEntry[],
): Promise<Guard> {
  const file = join(folder, `${process.pid}-${randomBytes(6).toString("hex")}.jsonl`);
  const started = await startTimeOf(process.pid);
  return await openGuard(entries, settings, {
    async openRecord(memory) {
      withExplainedErrors(folder, () => makeFolder(folder, 0o700));
      const { folder: folderPath, iteration, places, rescue } = settings;
      const header: Header<unknown> = {
        pid: process.pid,
        started,
        host: hostname(),
        starter: ownMarkPrefix,
        about,
        folder: folderPath,
        iteration,
        places,
        rescue,
      };
      const lines = [...memory].map(([path, rememberedFile]) => lineOf(path, rememberedFile));
      await writeFileAtomic(file, `${[header, ...lines].map((line) => JSON.stringify(line)).join("\n")}\n`, {
        mode: 0o600,
      });
      return makeRecord(file);
    },
  });
}

const makeRecord = (file: string): GuardRecord => ({
  // The line feed at the start ends a line that is incomplete because the disk was full.
  add: (path, rememberedFile) =>
    withExplainedErrors(file, () => appendFileSync(file, `\n${JSON.stringify(lineOf(path, rememberedFile))}\n`)),
  close: () => rmSync(file, { force: true }),
});

/**
 * Ends agents whose run was killed or crashed, and restores the files that they changed. Call this before any
 * configuration is read. `entriesOf` builds the entries of a guard again, or returns undefined if a later version wrote
 * the record. Returns sentences for the user.
 * @throws ExpectedError if a file in or around `cwd` can't be restored; in other folders a later start tries again.
 */
export async function restoreAfterKill<EntryData>(
  folder: string,
  cwd: string,
  entriesOf: (about: EntryData) => Promise<readonly GuardEntry[] | undefined>,
): Promise<string[]> {
  if (!existsSync(folder) || (await recordsOfDeadProcesses<EntryData>(folder)).length === 0) return [];
  const heal = async () => {
    const sentences: string[] = [];
    // Read again under the lock: another process may have restored the files meanwhile.
    for (const { file, header, memory } of await recordsOfDeadProcesses<EntryData>(folder)) {
      const { folder: guardedFolder, about, starter } = header;
      // An agent that is still running could change the restored files again.
      if (starter !== undefined && (await killLeftovers(starter)))
        sentences.push(`${guardedFolder}: An agent of a run that was killed was still at work; it was ended.`);
      try {
        const entries = await entriesOf(about);
        if (entries === undefined) throw new ExpectedError(newerRecordText(file), 5);
        const guard = await openGuard(entries, header, {
          previous: memory,
          openRecord: () => Promise.resolve(makeRecord(file)),
        });
        const damage = await guard.end(unknownAgent);
        sentences.push(...damage.map((sentence) => `${guardedFolder}: ${sentence}`));
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        if (`${cwd}/`.startsWith(`${guardedFolder}/`) || guardedFolder.startsWith(`${cwd}/`)) throw error;
        sentences.push(`${guardedFolder}: ${messageOf(error)}`);
      }
    }
    return sentences;
  };
  try {
    return await withLock(join(folder, lockName), { subject: folder, waitMs: 20_000 }, heal);
  } catch (error) {
    // On a full disk no lock can be taken, and the files of a killed run may fill the disk. So the files are restored
    // without the lock: two processes that do it at the same time do the same work.
    if (!(error instanceof ExpectedError) || !hasCode(error.cause, "ENOSPC", "EDQUOT")) throw error;
    return await heal();
  }
}

const newerRecordText = (file: string): string =>
  `${file}, which says what agents may have changed, was written by a later version; update research-ralph.`;

/** The suspect after a kill: the name of the agent is not known. */
const unknownAgent = { agent: "An agent", during: "an agent worked whose run was then killed, or since" };

/** The records of processes that have ended. */
async function recordsOfDeadProcesses<EntryData>(folder: string) {
  const records: { file: string; header: Header<EntryData>; memory: Map<string, RememberedFile> }[] = [];
  for (const name of readdirSync(folder).filter(
    (fileName) => fileName.endsWith(".jsonl") && !fileName.startsWith("."),
  )) {
    const file = join(folder, name);
    const record = readRecord<EntryData>(file);
    if (record === undefined) continue;
    const { pid, started, host } = record.header;
    if (host === hostname() && !(await isSameProcess(pid, started))) records.push({ file, ...record });
  }
  return records;
}

/**
 * Reads a record; undefined if it was removed meanwhile. An incomplete line is skipped: the process was killed, or the
 * disk was full, before the write that the line announces.
 */
function readRecord<EntryData>(
  file: string,
): { header: Header<EntryData>; memory: Map<string, RememberedFile> } | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
  const [first = "", ...lineTexts] = text.split("\n");
  const memory = new Map<string, RememberedFile>();
  for (const lineText of lineTexts) {
    const line = parseLine(lineText);
    if (line !== undefined) memory.set(line.path, rememberedFileOf(line, memory.get(line.path)));
  }
  return { header: JSON.parse(first) as Header<EntryData>, memory };
}

/** Parses a line; undefined for an incomplete one, since the beginning of a JSON object is never valid JSON. */
function parseLine(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
}

function lineOf(path: string, { snapshot, stamp, sha256 }: RememberedFile): Line {
  const { version } = snapshot ?? {};
  if (version === undefined) return { path, ...(stamp && { stamp }), ...(sha256 && { sha256 }) };
  const { kind } = version;
  if (kind === "file") return { path, kind, mode: version.mode, bytes: version.bytes.toString("base64") };
  return kind === "link" ? { path, kind, to: version.to } : { path, kind };
}

function rememberedFileOf(line: Line, previous: RememberedFile | undefined): RememberedFile {
  const { kind, stamp, sha256, to = "", bytes = "", mode = 0o644 } = line;
  // This line announces a write of this program. The kill may have come before or after that write.
  if (kind === undefined)
    return {
      ...previous,
      ...(stamp && { stamp }),
      ...(sha256 && { sha256 }),
      ...(stamp === undefined && { mayBeMissing: true }),
    };
  const olderVersion = previous?.snapshot?.version;
  const version: Version =
    kind === "file" ? { kind, bytes: Buffer.from(bytes, "base64"), mode } : kind === "link" ? { kind, to } : { kind };
  return { snapshot: { version }, ...(olderVersion && { olderVersion }) };
}
