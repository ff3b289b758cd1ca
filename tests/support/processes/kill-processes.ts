import type { ChildProcess } from "node:child_process";

/**
 * Sends `signal` to each of `pids` that still runs: a process may end between the moment it is listed and its signal.
 */
export function killProcesses(pids: readonly number[], signal: NodeJS.Signals = "SIGKILL"): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

/**
 * How a program has ended that a test may have killed: `killed` by SIGKILL, or `finished` with exit code 0; and its
 * standard output. @throws Error with what it printed, where it ended by itself with another code.
 */
export async function killedOrFinished(child: ChildProcess): Promise<{ how: "killed" | "finished"; out: string }> {
  const printed = { out: "", err: "" };
  child.stdout?.on("data", (data: Buffer) => (printed.out += data.toString()));
  child.stderr?.on("data", (data: Buffer) => (printed.err += data.toString()));
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.once("close", (...end) => resolve(end)),
  );
  if (signal === "SIGKILL") return { how: "killed", out: printed.out };
  if (code === 0) return { how: "finished", out: printed.out };
  throw new Error(`It ended by itself (${code ?? signal}):\n${printed.err}\n${printed.out.slice(-4_000)}`);
}
