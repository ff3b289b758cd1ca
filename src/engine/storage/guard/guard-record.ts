import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { ExpectedError, hasCode, messageOf } from "../../lib/errors.js";
import { lockName } from "../../lib/layout.js";
import { killLeftBy, ownStarter } from "../../process/descendants.js";
import { isSameProcess, startOfProcess } from "../../process/process-identity.js";
import { writeFileAtomic } from "../atomic-file.js";
import { explaining } from "../explain-system-error.js";
import { withLock } from "../lock.js";
import { makeFolder } from "../regular-file.js";
import type { Version } from "./file-snapshot.js";
import { type Entry, type Guard, type Guarded, openGuard, type Record, type Remembered } from "./guard.js";

/**
 * What a guard remembers, on the disk before the agent starts: a file for each guard, of which the first line says
 * whose it is and each other line what is known of a path, the last one counting. It lies in the folder of the user's
 * own state, wherever a configuration may put that of a project: nothing that an agent could have planted is read to
 * find it. Sandboxes do not show it.
 */
interface Header<About> extends Guarded {
  readonly pid: number;
  readonly started?: string | undefined;
  readonly host: string;
  /** By which agents are found that a kill has left at work; absent from records of earlier versions. */
  readonly starter?: string;
  /** By which the tenant makes its entries again. */
  readonly about: About;
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

/** Opens a guard that is kept in `folder`, by which the next start puts things right after a kill. */
export async function openKeptGuard(
  folder: string,
  about: unknown,
  guarded: Guarded,
  entries: readonly Entry[],
): Promise<Guard> {
  const file = join(folder, `${process.pid}-${randomBytes(6).toString("hex")}.jsonl`);
  const started = await startOfProcess(process.pid);
  return await openGuard(entries, guarded, {
    async begun(known) {
      explaining(folder, () => makeFolder(folder, 0o700));
      const { folder: of, iteration, places, rescue } = guarded;
      const header: Header<unknown> = {
        ...{ pid: process.pid, started, host: hostname(), starter: ownStarter, about },
        ...{ folder: of, iteration, places, rescue },
      };
      const lines = [...known].map(([path, each]) => lineOf(path, each));
      await writeFileAtomic(file, `${[header, ...lines].map((line) => JSON.stringify(line)).join("\n")}\n`, {
        mode: 0o600,
      });
      return recordIn(file);
    },
  });
}

const recordIn = (file: string): Record => ({
  // A line of its own also after one that a full disk has torn.
  note: (path, known) => explaining(file, () => appendFileSync(file, `\n${JSON.stringify(lineOf(path, known))}\n`)),
  close: () => rmSync(file, { force: true }),
});

/**
 * Ends agents whose run was killed, or died, and puts right what they left. To be called before any configuration is
 * read. `entriesOf` makes the entries of a guard again; undefined: a later version wrote it. Answers
 * with sentences for a person.
 * @throws ExpectedError where a file around `cwd` can't be put back; elsewhere it stays for a later start.
 */
export async function healGuards<About>(
  folder: string,
  cwd: string,
  entriesOf: (about: About) => Promise<readonly Entry[] | undefined>,
): Promise<string[]> {
  if (!existsSync(folder) || (await deadIn<About>(folder)).length === 0) return [];
  const heal = async () => {
    const says: string[] = [];
    // Another start may have been quicker.
    for (const { file, header, known } of await deadIn<About>(folder)) {
      const { folder: guarded, about, starter } = header;
      // It could change again what is put right, and would work beside the next agent.
      if (starter !== undefined && (await killLeftBy(starter)))
        says.push(`${guarded}: An agent of a run that was killed was still at work; it was ended.`);
      try {
        const entries = await entriesOf(about);
        if (entries === undefined) throw new ExpectedError(laterText(file), 5);
        const guard = await openGuard(entries, header, { after: known, begun: () => Promise.resolve(recordIn(file)) });
        const found = await guard.end(whoWasKilled);
        says.push(...found.map((sentence) => `${guarded}: ${sentence}`));
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        if (`${cwd}/`.startsWith(`${guarded}/`) || guarded.startsWith(`${cwd}/`)) throw error;
        says.push(`${guarded}: ${messageOf(error)}`);
      }
    }
    return says;
  };
  try {
    return await withLock(join(folder, lockName), { describe: folder, waitMs: 20_000 }, heal);
  } catch (error) {
    // A full disk takes no lock either, and what a killed run has left may be what fills it. Two at once do the same.
    if (!(error instanceof ExpectedError) || !hasCode(error.cause, "ENOSPC", "EDQUOT")) throw error;
    return await heal();
  }
}

const laterText = (file: string): string =>
  `${file}, which says what agents may have changed, was written by a later version; update research-ralph.`;

/** Nobody knows any more which one it was. */
const whoWasKilled = { agent: "An agent", during: "an agent worked whose run was then killed, or since" };

/** The records of processes that are gone. */
async function deadIn<About>(folder: string) {
  const dead: { file: string; header: Header<About>; known: Map<string, Remembered> }[] = [];
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".jsonl") && !each.startsWith("."))) {
    const file = join(folder, name);
    const read = readRecord<About>(file);
    if (read === undefined) continue;
    const { pid, started, host } = read.header;
    if (host === hostname() && !(await isSameProcess(pid, started))) dead.push({ file, ...read });
  }
  return dead;
}

/** Undefined where it was removed meanwhile. A torn line, by a kill or a full disk, was never followed by its write. */
function readRecord<About>(file: string): { header: Header<About>; known: Map<string, Remembered> } | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
  const [first = "", ...rest] = text.split("\n");
  const known = new Map<string, Remembered>();
  for (const row of rest) {
    const line = whole(row);
    if (line !== undefined) known.set(line.path, rememberedIn(line, known.get(line.path)));
  }
  return { header: JSON.parse(first) as Header<About>, known };
}

/** A line that is whole: no beginning of one can be parsed. */
function whole(row: string): Line | undefined {
  try {
    return JSON.parse(row) as Line;
  } catch {
    return undefined;
  }
}

function lineOf(path: string, { snapshot, stamp, sha256 }: Remembered): Line {
  const { version } = snapshot ?? {};
  if (version === undefined) return { path, ...(stamp && { stamp }), ...(sha256 && { sha256 }) };
  const { kind } = version;
  if (kind === "file") return { path, kind, mode: version.mode, bytes: version.bytes.toString("base64") };
  return kind === "link" ? { path, kind, to: version.to } : { path, kind };
}

function rememberedIn(line: Line, before: Remembered | undefined): Remembered {
  const { kind, stamp, sha256, to = "", bytes = "", mode = 0o644 } = line;
  // What was noted since, we were about to do: the kill may have come before it, or after.
  if (kind === undefined)
    return {
      ...before,
      ...(stamp && { stamp }),
      ...(sha256 && { sha256 }),
      ...(stamp === undefined && { isOpen: true }),
    };
  const earlier = before?.snapshot?.version;
  const version: Version =
    kind === "file" ? { kind, bytes: Buffer.from(bytes, "base64"), mode } : kind === "link" ? { kind, to } : { kind };
  return { snapshot: { version }, ...(earlier && { earlier }) };
}
