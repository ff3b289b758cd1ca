import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { Readable, Writable } from "node:stream";
import { messageOf } from "../../lib/errors.js";
import { type Line, streamOver, takeTurn, turnFrom } from "./client.js";

// Starts the agent that its arguments name, gives it the brief on stdin as one prompt in the current folder, and prints
// what it does as lines of JSON. The agent lies in the same process group, and is ended with this program.
const [options = "{}", command = "", ...args] = process.argv.slice(2);
const print = (line: Line): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const stop = new AbortController();

const prompt = await text(process.stdin);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const gone = new Promise<void>((resolve) => {
  agent.once("error", (error) => {
    print({ type: "error", kind: "missing", message: `${command} can't be started: ${messageOf(error)}` });
    resolve();
  });
  agent.once("exit", () => resolve());
});
// What it can't take any more is told by its exit.
agent.stdin.on("error", () => undefined);
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop.abort());

const turn = { ...turnFrom(options, prompt), cwd: process.cwd() };
const stream = streamOver(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout) as ReadableStream<Uint8Array>);
await Promise.race([takeTurn(stream, turn, print, stop.signal), gone]);
agent.kill();
// One that does not end by itself is ended with the group.
setTimeout(() => process.exit(), 2_000).unref();
await gone;
process.exit();
