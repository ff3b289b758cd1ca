import { runProcess } from "../../engine/process/run-process.js";
import type { HttpOk } from "../generated/ralph.js";
import { type CheckResult, endSentence, lastCharsOf, type Place, run } from "../place/run.js";

/** Default limits in seconds: for a server that runs already, and for a server that the criterion starts. */
const defaultSeconds = { running: 10, started: 60 };

/**
 * A script that runs where commands run, because a server that is started there may be reachable only from there. It
 * starts the server if there is a command, sends requests until the answer is right or the time is over, and then ends
 * the server and all its processes.
 */
const script = `
const { spawn } = require("node:child_process");
const { url, status, start, ms } = JSON.parse(process.argv[1]);
const until = Date.now() + ms;
const wanted = (found) => (status === undefined ? found >= 200 && found < 300 : found === status);
const server = start === undefined ? undefined : spawn(start, { shell: true, detached: true, stdio: ["ignore", "ignore", "inherit"] });
let gone;
server?.once("exit", (code, signal) => (gone = "its server ended with " + (signal ?? "exit code " + code)));
const end = (found) => {
  try { if (server) process.kill(-server.pid, "SIGKILL"); } catch {}
  process.stdout.write(JSON.stringify(found) + "\\n", () => process.exit(0));
};
(async () => {
  let last = "no answer";
  do {
    try {
      const answer = await fetch(url, { redirect: "follow", signal: AbortSignal.timeout(Math.max(1, until - Date.now())) });
      await answer.body?.cancel();
      last = "status " + answer.status;
      if (wanted(answer.status)) return end({ passed: true, last });
      if (server === undefined) break;
    } catch (error) {
      last = error.cause?.code ?? error.cause?.message ?? error.message;
      if (server === undefined) break;
    }
    if (gone !== undefined) return end({ passed: false, last: last + "; " + gone });
    await new Promise((resolve) => setTimeout(resolve, 100));
  } while (Date.now() < until);
  end({ passed: false, last });
})();`;

/** Whether a URL answers with the required status. */
export async function checkHttp(
  { url, status, start, timeout_seconds: seconds }: HttpOk,
  place: Place,
): Promise<CheckResult> {
  const ms = (seconds ?? (start === undefined ? defaultSeconds.running : defaultSeconds.started)) * 1000;
  const request = JSON.stringify({ url, status, start, ms });
  // A sandbox has a separate network, in which only servers answer that were started there. So without a start command,
  // the request is sent from outside the sandbox. This runs no code of an agent.
  const serverPlace = start === undefined ? { ...place, exec: runProcess, node: process.execPath } : place;
  // The script gets a little more time than the request, so that it can end the server.
  const result = await run(serverPlace, serverPlace.node, ["-e", script, request], { timeoutMs: ms + 5_000 });
  try {
    const { passed, last } = JSON.parse(result.stdout.trim().split("\n").at(-1) ?? "") as {
      passed: boolean;
      last: string;
    };
    const errorOutput = passed ? "" : lastCharsOf(result.stderr, 800);
    return { passed, detail: `${url}: ${last}.${errorOutput === "" ? "" : `\n${errorOutput}`}` };
  } catch {
    return {
      passed: false,
      detail: `${url} could not be asked: ${endSentence(result, ms)} ${lastCharsOf(result.stderr, 800)}`,
    };
  }
}
