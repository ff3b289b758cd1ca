import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const mount = (...args: string[]): void => void execFileSync("mount", args, { stdio: "ignore" });

/** Why mounts can't be made here, or undefined where they can: it takes Linux and root. */
export const noMounts: string | undefined = (() => {
  if (process.platform !== "linux") return "mounts are made on Linux only";
  const at = mkdtempSync(join(tmpdir(), "rr-mount-"));
  try {
    mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", at);
    execFileSync("umount", [at]);
    return undefined;
  } catch {
    return "mounting takes root";
  } finally {
    rmSync(at, { recursive: true, force: true });
  }
})();

/** A disk of its own, of so many kilobytes, that is gone after the test. */
export function smallDisk(kilobytes: number) {
  const at = realpathSync(mkdtempSync(join(tmpdir(), "rr-disk-")));
  mount("-t", "tmpfs", "-o", `size=${kilobytes}k`, "tmpfs", at);
  onTestFinished(() => {
    execFileSync("umount", ["-l", at]);
    rmSync(at, { recursive: true, force: true });
  });
  const filler = join(at, "filler");
  return {
    at,
    /** Fills it until so many kilobytes are left. */
    leave(left: number): void {
      rmSync(filler, { force: true });
      const { bfree, bsize } = statfsSync(at);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bfree * bsize - left * 1024)));
    },
    free: () => rmSync(filler, { force: true }),
  };
}

/**
 * Makes a folder read-only until the answer is called, or the test is finished. Root may write where permissions forbid
 * it, so it is a mount.
 */
export function makeReadOnly(folder: string): () => void {
  mkdirSync(folder, { recursive: true });
  mount("--bind", folder, folder);
  mount("-o", "remount,ro,bind", folder);
  let isMounted = true;
  const undo = () => {
    if (isMounted) execFileSync("umount", ["-l", folder]);
    isMounted = false;
  };
  onTestFinished(undo);
  return undo;
}
