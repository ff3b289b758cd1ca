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
