import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { hostname } from "node:os";

/** Leaves a lock at `file` whose process has ended. */
export async function deadHolder(file: string): Promise<void> {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  writeFileSync(
    file,
    JSON.stringify({ pid: child.pid, started: "1", host: hostname(), token: "dead", since: "2026-01-01T00:00:00Z" }),
  );
}
