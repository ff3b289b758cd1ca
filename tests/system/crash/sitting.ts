import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { main } from "../../../src/commands/main.js";
import { ioIn } from "../../support/processes/in-process.js";
import { afterKill, type Desk, killGroup } from "./person.js";
import type { Random } from "./random.js";

/** What `screen` prints before it shows a record and waits for a key. */
const clear = "\u001b[2J\u001b[3J\u001b[H";

/** What a person types at one record after the other. */
export function movesFrom(random: Random): string[] {
  const moves = ["i", "x1\r", "xoff topic\r", "m", "nlook again\r", "s", "b", "u", "i", "x1\r"];
  const count = 3 + Math.floor(random.next() * 5);
  return [...Array.from({ length: count }, () => moves[Math.floor(random.next() * moves.length)] ?? "s"), "q"];
}

/** What stands in the project each time that a record is shown, where nobody disturbs the session. */
export async function sitThrough(desk: Desk, moves: readonly string[], state: () => string): Promise<string[]> {
  const states: string[] = [];
  const left = [...moves];
  let onKey = (_: string): void => undefined;
  const io = ioIn(desk.root, desk.env, {
    keyboard: {
      listen(heard) {
        onKey = heard;
        return () => undefined;
      },
      send: () => undefined,
    },
    stdout(text) {
      if (!text.includes(clear)) return;
      states.push(state());
      for (const key of left.shift() ?? "q") onKey(key);
    },
  });
  const code = await main(["screen", desk.folder, "--all"], io, "0.0.0");
  if (code !== 0) throw new Error(`screen ended with ${code}: ${io.err()}`);
  return states;
}

export interface Sat {
  readonly isKilled: boolean;
  /** How many records were shown. */
  readonly shown: number;
  readonly said: string;
}

/**
 * The same session of the built program in a terminal of its own, killed some milliseconds after it has shown so many
 * records; undefined where it is to be killed before the first.
 */
export async function sitUntil(
  cli: string,
  desk: Desk,
  moves: readonly string[],
  { records, delayMs, gitToo }: { records: number; delayMs: number; gitToo: boolean },
): Promise<Sat> {
  // `script` gives the program a terminal, and passes on what it is told on its stdin.
  const line = `exec '${process.execPath}' '${cli}' screen '${desk.folder}' --all`;
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    cwd: desk.root,
    env: { ...desk.env, SHELL: "/bin/sh" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let [said, shown] = ["", 0];
  const left = [...moves];
  let resolve = (): void => undefined;
  const reached = new Promise<void>((done) => (resolve = done));
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    for (const now = said.split(clear).length - 1; shown < now; shown += 1) {
      if (shown + 1 >= records) resolve();
      child.stdin.write(left.shift() ?? "q");
    }
  });
  if (records === 0) resolve();
  const ended = once(child, "exit");
  await Promise.race([reached, ended]);
  await Promise.race([sleep(delayMs), ended]);
  const program = childOf(child.pid ?? 0);
  // The program has ended, or has not begun, where no child is there or it is still the shell.
  const isAlive = child.exitCode === null && program !== undefined && commandOf(program).includes("cli.js");
  if (isAlive) killGroup(program, desk, gitToo);
  else child.stdin.write("q");
  const [code] = (await ended) as [number | null];
  await afterKill(desk);
  // `script -e` ends as its program did; 137 is SIGKILL.
  return { isKilled: isAlive && code === 137, shown, said };
}

function childOf(pid: number): number | undefined {
  try {
    const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return first === undefined || first === "" ? undefined : Number(first);
  } catch {
    return undefined;
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
