import { runProcess } from "../../engine/process/run-process.js";
import type { HttpOk } from "../generated/ralph.js";
import { type CheckResult, endSentence, lastCharsOf, type Place, run } from "../place/run.js";

/** Most seconds until an answer: of a server that is there, and of one that is only started. */
const usualSeconds = { there: 10, started: 60 };

/**
 * What runs where commands run, as a server that is started there may be reached from there alone. It starts the server
 * where there is a command, asks until the answer is as wanted or the time is up, and ends the server with all that it
 * started.
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

/** Whether a URL answers as wanted. */
export async function checkHttp(
  { url, status, start, timeout_seconds: seconds }: HttpOk,
  place: Place,
): Promise<CheckResult> {
  const ms = (seconds ?? (start === undefined ? usualSeconds.there : usualSeconds.started)) * 1000;
  const asked = JSON.stringify({ url, status, start, ms });
  // A sandbox has a network of its own: where it starts no server nothing answers, and what the user named is asked
  // from outside. No word of an agent's runs then.
  const where = start === undefined ? { ...place, exec: runProcess, node: process.execPath } : place;
  // A little more than it takes itself, so that it can end what it has started.
  const ran = await run(where, where.node, ["-e", script, asked], { timeoutMs: ms + 5_000 });
  try {
    const { passed, last } = JSON.parse(ran.stdout.trim().split("\n").at(-1) ?? "") as {
      passed: boolean;
      last: string;
    };
    const said = passed ? "" : lastCharsOf(ran.stderr, 800);
    return { passed, detail: `${url}: ${last}.${said === "" ? "" : `\n${said}`}` };
  } catch {
    return {
      passed: false,
      detail: `${url} could not be asked: ${endSentence(ran, ms)} ${lastCharsOf(ran.stderr, 800)}`,
    };
  }
}
