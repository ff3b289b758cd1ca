import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { noAccess } from "../../src/engine/process/access.js";
import { runProcess } from "../../src/engine/process/run-process.js";
import type { Place } from "../../src/task/place/run.js";

/** A fresh folder on the host in which criteria are checked. */
export function placeOnHost(signal = new AbortController().signal, env: NodeJS.ProcessEnv = {}): Place {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "place-")));
  const scratch = mkdtempSync(join(tmpdir(), "scratch-"));
  const base = { PATH: process.env["PATH"], HOME: process.env["HOME"], CI: "1", NO_COLOR: "1", FORCE_COLOR: "0" };
  return { exec: runProcess, node: process.execPath, cwd, env: { ...base, ...env }, access: noAccess, scratch, signal };
}
