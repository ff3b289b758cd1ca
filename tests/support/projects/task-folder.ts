import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { TaskState } from "../../../src/task/generated/ralph-state.js";
import * as inProcess from "../processes/in-process.js";

let folder = "";
/** How often an agent that is a function has worked. */
let runs = 0;

/** Gives each test of the file a folder of its own, for a task. */
export function eachInTaskFolder(): void {
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "task-")));
    runs = 0;
  });
  afterEach(() => {
    for (const each of [folder, home(), programs()]) rmSync(each, { recursive: true, force: true });
  });
}

export const here = (): string => folder;
/** Another than the folder: no task is worked on in the user's home. */
export const home = (): string => `${folder}-home`;
/** Next to the folder: what an agent is made of. */
const programs = (): string => `${folder}-programs`;

export const path = (name: string): string => join(folder, name);
export const read = (name: string): string => readFileSync(path(name), "utf8");
export const state = (): TaskState => JSON.parse(read("ralph.state.json"));
export const ledger = (): LedgerLine[] =>
  read(".ralph/ledger.jsonl")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
export const git = (...args: string[]): string =>
  execFileSync("git", ["-C", folder, ...args], { encoding: "utf8" }).trim();

export const write = (task: object): void => writeFileSync(path("ralph.json"), JSON.stringify(task));
export const exists = (file: string) => ({ type: "file_exists", path: file });
export const touch = (...names: readonly string[]): void => {
  for (const name of names) writeFileSync(path(name), "");
};

const onHost = (agent: string): string[] => ["--agent", agent, "--unconfined", "--sandbox", "host"];

/** An agent that is this function in this process, given the number of its run. */
export const agent = (works: (run: number) => unknown): string[] =>
  onHost(inProcess.agentThat(() => void works(++runs)));
export const nothing = (): void => undefined;

/** An agent that is this script of the shell; `$N` is the number of its run. */
export function shell(script: string): string[] {
  const file = join(programs(), "agent.sh");
  mkdirSync(programs(), { recursive: true });
  const count = 'N=$(( $(cat "$0.count" 2>/dev/null || echo 0) + 1 ))\necho $N > "$0.count"';
  writeFileSync(file, `#!/bin/sh\ncat > /dev/null\n${count}\n${script}\necho done\n`, { mode: 0o755 });
  return onHost(`cmd:${file}`);
}

export const cli = (args: readonly string[], cwd: string, env: Record<string, string> = {}) =>
  inProcess.cli(args, cwd, { HOME: home(), ...env });

export const task = (...args: string[]) => cli(["task", ...args], folder);

/** The last line of --json. */
export async function json(...args: string[]) {
  const { code, out, err } = await task("--json", ...args);
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { code, err, lines, last: lines.at(-1) };
}
