import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Gives a whole run of the tests, and all that it starts, a temporary folder of its own, and removes it: thousands of
 * small ones would stay. That of `npm test` is in memory where it can be, as its tests sync thousands of files; those
 * that drive real processes write to the disk. Its path is plain: the scripts that stand for agents name files without
 * quotes.
 */
export default function ownTempFolder({ config }: { readonly config: { readonly name?: string } }): () => void {
  const usual = process.env["TMPDIR"];
  const folder = (config.name === "unit" ? inMemory() : undefined) ?? folderIn(plainly(tmpdir()));
  process.env["TMPDIR"] = folder;
  return () => {
    if (usual === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = usual;
    remove(folder);
  };
}

const plainly = (parent: string): string => (/^[\w./-]+$/.test(realpathSync(parent)) ? parent : "/tmp");
const folderIn = (parent: string): string => realpathSync(mkdtempSync(join(parent, "rr-tests-")));
const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });

/** Linux keeps what stands here in memory. */
const memory = "/dev/shm";
/** Bytes that must be free there: several times what a run has at once. */
const minFree = 2 * 1024 ** 3;

/** A folder in memory; undefined where there is none, too little room, or no program may be started from it. */
function inMemory(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < minFree) return undefined;
    const folder = folderIn(memory);
    const program = join(folder, "program.sh");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
    if (spawnSync(program).status === 0) return folder;
    remove(folder);
  } catch {
    // It is read-only, or this is no Linux.
  }
  return undefined;
}
