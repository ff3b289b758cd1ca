import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { Readable, Writable } from "node:stream";
import { messageOf } from "../../lib/errors.js";
import { type Line, streamOver, takeTurn, turnFrom } from "./client.js";
import { createLogFile, watchRetries } from "./retry-watch.js";

// This program starts the agent that its arguments name, in the current folder, sends the brief from stdin as one
// prompt, and prints events as lines of JSON. The agent is in the same process group, so it ends with this program.

/** Maximum length of the stored stderr of the agent, in characters. */
const maxStderrChars = 16_000;

const [options = "{}", command = "", ...args] = process.argv.slice(2);
const prompt = await text(process.stdin);
const turnOptions = { ...turnFrom(options, prompt), cwd: process.cwd() };
const stop = new AbortController();
const write = (line: Line): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

let giveUp: () => void;
const giveUpPromise = new Promise<void>((resolve) => (giveUp = resolve));
let isErrorSent = false;
const retries = watchRetries(turnOptions.patienceMs, (message) => {
  write({ type: "error", message });
  isErrorSent = true;
  giveUp();
});
function print(line: Line): void {
  retries.onEvent();
  if (!isErrorSent) write(line);
}

const log =
  turnOptions.logVariable === undefined
    ? undefined
    : createLogFile(turnOptions.logVariable, (line) => retries.onLogLine(line));
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...log?.env } });
/** Printed only at the end: output on stderr would hide that the agent sends no events. */
let stderrText = "";
const stderrLines = createInterface({ input: agent.stderr });
stderrLines.on("line", (line) => {
  stderrText = `${stderrText}${line}\n`.slice(-maxStderrChars);
  retries.onLogLine(line);
});
process.once("exit", () => {
  log?.close();
  writeSync(process.stderr.fd, stderrText);
});
const agentExit = new Promise<void>((resolve) => {
  agent.once("error", (error) => {
    print({ type: "error", kind: "missing", message: `${command} can't be started: ${messageOf(error)}` });
    resolve();
  });
  agent.once("exit", () => resolve());
});
// A write error needs no handling: the exit of the agent ends the turn.
agent.stdin.on("error", () => undefined);
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop.abort());

const stream = streamOver(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout) as ReadableStream<Uint8Array>);
await Promise.race([takeTurn(stream, turnOptions, print, stop.signal), agentExit, giveUpPromise]);
agent.kill();
// An agent that does not end by itself is ended with the process group.
setTimeout(() => process.exit(), 2_000).unref();
await agentExit;
process.exit();
