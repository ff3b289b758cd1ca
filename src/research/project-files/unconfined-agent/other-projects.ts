import { createHash } from "node:crypto";
import { lstatSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../../../engine/lib/errors.js";
import { lockFile } from "../../../engine/lib/layout.js";
import { writeFileAtomic } from "../../../engine/storage/atomic-file.js";
import {
  isSameVersion,
  keepAside,
  moveAside,
  putVersion,
  snapshotOf,
  type Version,
  versionAt,
} from "../../../engine/storage/file-snapshot.js";
import { isHeld } from "../../../engine/storage/lock.js";
import { readRegularText } from "../../../engine/storage/regular-file.js";
import { isSigned, signatureOf } from "../../../engine/storage/signature.js";
import { stateVersion } from "../../../engine/storage/state/format-version.js";
import { committedFiles, rrdFile, signedFile } from "../layout.js";
import { guardSteeringOf } from "./steering-files.js";
import { entriesOf, type Undo } from "./stored-data.js";

/** Versions of files by their path, inode, size and time of change: what has not changed since is not read again. */
export type FileMemory = Map<string, { readonly stamp: string; readonly version: Version }>;

/** Bytes of other projects' files that are remembered. A change of what is beyond is only told. */
const maxBytes = 64 * 1024 * 1024;

/**
 * Remembers the committed files of the projects next to this one that no run is at work on: those change by themselves.
 * What is changed is put back, unless one of our runs has left it so. Messages that appear in any of them count where
 * one of our commands signed them.
 */
export async function guardOthers(folder: string, aside: string, stateDir: string, memory: FileMemory): Promise<Undo> {
  const before = new Map<string, { readonly stamp: string; readonly version: Version | undefined }>();
  const projects: string[] = [];
  const steering: Undo[] = [];
  let bytes = 0;
  for (const name of entriesOf(dirname(folder))) {
    const other = join(dirname(folder), name);
    if (other === folder || !isProject(other)) continue;
    steering.push(await guardSteeringOf(other, join(aside, "others", name), stateDir));
    if (await isHeld(lockFile(other))) continue;
    projects.push(other);
    for (const path of filesOf(other)) {
      const stamp = stampOf(path);
      bytes += sizeOf(path);
      if (bytes > maxBytes) memory.delete(path);
      else if (memory.get(path)?.stamp !== stamp)
        memory.set(path, { stamp, version: (await snapshotOf(path)).version });
      before.set(path, { stamp, version: memory.get(path)?.version });
    }
  }

  return async (agent) => {
    const sentences: string[] = [];
    for (const undo of steering) sentences.push(...(await undo(agent)));
    for (const [index, other] of projects.entries()) {
      const changed = filesOf(other).filter((path) => before.get(path)?.stamp !== stampOf(path));
      // A person may have worked there meanwhile.
      if (changed.length === 0 || (await isSignedState(other, stateDir))) continue;
      if (await isHeld(lockFile(other))) {
        sentences.push(
          `${other} changed while ${agent} ran unconfined, and a process is at work there; check it if that is not yours.`,
        );
        continue;
      }
      const place = join(aside, "others", String(index));
      for (const path of changed) {
        const said = await putBack(path, before.get(path)?.version, place, agent).catch(
          (error: unknown) =>
            `${path} changed while ${agent} ran unconfined, and can't be put back (${messageOf(error).replace(/\.$/, "")}).`,
        );
        if (said !== undefined) sentences.push(said);
      }
    }
    return sentences;
  };
}

/**
 * Says in .ralph that the committed files are as a run, or a person's command, has left them. What can't be written is
 * left out.
 */
export async function signState(folder: string, stateDir: string): Promise<void> {
  await signedPart(folder)
    .then(async (part) => JSON.stringify({ signature: await signatureOf(stateDir, part), format: stateVersion }))
    .then((text) => writeFileAtomic(signedFile(folder), text, { durable: false }))
    .catch(() => undefined);
}

async function isSignedState(folder: string, stateDir: string): Promise<boolean> {
  try {
    const { signature } = JSON.parse(await readRegularText(signedFile(folder))) as { signature?: unknown };
    return await isSigned(stateDir, await signedPart(folder), signature);
  } catch {
    return false;
  }
}

async function signedPart(folder: string): Promise<unknown> {
  const hash = createHash("sha256");
  for (const path of filesOf(folder)) {
    const version = await versionAt(path);
    hash.update(`${version.kind}:`).update(version.kind === "file" ? version.bytes : "");
  }
  return [realpathSync(folder), hash.digest("hex")];
}

async function putBack(
  path: string,
  version: Version | undefined,
  place: string,
  agent: string,
): Promise<string | undefined> {
  const what = `${path} changed while ${agent} ran unconfined, and no run works on that project`;
  if (version === undefined)
    return `${what}; it is too large to be remembered, so 'git diff' shows the change, and 'git checkout -- ${path}' undoes it.`;
  const now = await versionAt(path);
  if (isSameVersion(now, version)) return undefined;
  const kept =
    now.kind !== "absent" &&
    (version.kind === "absent" ? await moveAside(path, place) : await keepAside(path, now, place));
  await putVersion(path, version);
  return `${what}; it was restored${kept ? `, and the changed one is in ${place}` : ""}.`;
}

const filesOf = (project: string): string[] => committedFiles.names.map((name) => join(project, name));

const statOf = (path: string) => {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

/** A folder, not a link to one: what lies elsewhere is not next to this project. */
const isProject = (path: string): boolean =>
  statOf(path)?.isDirectory() === true && statOf(rrdFile(path)) !== undefined;

const sizeOf = (path: string): number => statOf(path)?.size ?? 0;

function stampOf(path: string): string {
  const found = statOf(path);
  return found === undefined ? "absent" : `${found.ino}:${found.mode}:${found.size}:${found.ctimeMs}`;
}
