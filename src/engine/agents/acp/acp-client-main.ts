import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { Readable, Writable } from "node:stream";
import { messageOf } from "../../lib/errors.js";
import { type Line, streamOver, takeTurn, turnFrom } from "./client.js";
import { logFile, vainTries } from "./vain-tries.js";

// Starts the agent that its arguments name, gives it the brief on stdin as one prompt in the current folder, and prints
// what it does as lines of JSON. The agent lies in the same process group, and is ended with this program.
/** Characters that are kept of what it says on stderr. */
const maxSaid = 16_000;

const [options = "{}", command = "", ...args] = process.argv.slice(2);
const prompt = await text(process.stdin);
const turnOptions = { ...turnFrom(options, prompt), cwd: process.cwd() };
const stop = new AbortController();
const write = (line: Line): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

let giveUp: () => void;
const inVain = new Promise<void>((resolve) => (giveUp = resolve));
let isOver = false;
const tries = vainTries(turnOptions.patienceMs, (message) => {
  write({ type: "error", message });
  isOver = true;
  giveUp();
});
function print(line: Line): void {
  tries.heard();
  if (!isOver) write(line);
}

const log =
  turnOptions.logVariable === undefined ? undefined : logFile(turnOptions.logVariable, (line) => tries.said(line));
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...log?.env } });
/** What it says there is shown at the end: meanwhile only what it tells over the protocol is a sign of life. */
let said = "";
const errors = createInterface({ input: agent.stderr });
errors.on("line", (line) => {
  said = `${said}${line}\n`.slice(-maxSaid);
  tries.said(line);
});
process.once("exit", () => {
  log?.close();
  writeSync(process.stderr.fd, said);
});
const agentExit = new Promise<void>((resolve) => {
  agent.once("error", (error) => {
    print({ type: "error", kind: "missing", message: `${command} can't be started: ${messageOf(error)}` });
    resolve();
  });
  agent.once("exit", () => resolve());
});
// What it can't take any more is told by its exit.
agent.stdin.on("error", () => undefined);
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop.abort());

const stream = streamOver(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout) as ReadableStream<Uint8Array>);
await Promise.race([takeTurn(stream, turnOptions, print, stop.signal), agentExit, inVain]);
agent.kill();
// One that does not end by itself is ended with the group.
setTimeout(() => process.exit(), 2_000).unref();
await agentExit;
process.exit();
