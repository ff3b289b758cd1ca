import { spawnSync } from "node:child_process";
import { closeSync, fsyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageFile } from "../../../src/engine/lib/package-root.js";

/** Where the test files of this run note their CPU seconds; undefined outside of a run that counts them. */
export const cpuFile = (): string | undefined => process.env["RR_CPU_FILE"];

/** Clock ticks a second in /proc; Linux shows 100 to programs, whatever the kernel uses. */
const ticks = 100;

/** CPU seconds, user and system, of this process and, on Linux, of all children it has waited for. */
export function cpuSeconds(): { readonly own: number; readonly children: number } {
  const { user, system } = process.cpuUsage();
  const own = (user + system) / 1e6;
  try {
    // The name of the program stands in brackets and may hold spaces.
    const fields = readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")
      .map(Number);
    return { own, children: ((fields[13] ?? 0) + (fields[14] ?? 0)) / ticks };
  } catch {
    return { own, children: 0 };
  }
}

/** The wing a test file belongs to: its folder below tests/. */
const wingOf = (path: string): string => path.slice(packageFile("tests").length + 1).split("/")[0] ?? "";

/** What one test file used. */
export interface FileCpu {
  readonly file: string;
  readonly seconds: number;
}

/** Adds up what the files of each wing used. */
export function byWing(files: readonly FileCpu[]): Map<string, number> {
  const wings = new Map<string, number>();
  for (const { file, seconds } of files) wings.set(wingOf(file), (wings.get(wingOf(file)) ?? 0) + seconds);
  return wings;
}

/** What this machine takes for what tests do most, in seconds each. */
export interface Calibration {
  /** CPU of `node -e 0`: what all else is told in. 0 where the CPU of children can't be seen. */
  readonly node: number;
  /** CPU of a start of `true` from here, and of an empty git repository. */
  readonly start: number;
  readonly repository: number;
  /** By the clock: one fsync where the temporary files of the tests are. */
  readonly fsync: number;
  /** CPU of ten million rounds of a loop. */
  readonly loop: number;
  /** CPU of the calibration itself. */
  readonly used: number;
}

/** Measures this machine, in about a CPU second. */
export function calibrate(): Calibration {
  const folder = mkdtempSync(join(tmpdir(), "calibration-"));
  const total = ({ own, children } = cpuSeconds()): number => own + children;
  const average = (times: number, clock: () => number, work: (index: number) => unknown): number => {
    const before = clock();
    for (let index = 0; index < times; index++) work(index);
    return (clock() - before) / times;
  };
  const before = total();
  try {
    const node = average(
      6,
      () => cpuSeconds().children,
      () => spawnSync(process.execPath, ["-e", "0"]),
    );
    const start = average(20, total, () => spawnSync("true"));
    const repository = average(10, total, (index) => spawnSync("git", ["init", "--quiet", `${folder}/${index}`]));
    const file = openSync(join(folder, "file"), "w");
    const fsync = average(
      20,
      () => performance.now() / 1_000,
      () => (writeSync(file, "line\n"), fsyncSync(file)),
    );
    closeSync(file);
    let sum = 0;
    const loop = average(5, total, () => {
      for (let index = 0; index < 1e7; index++) sum = (sum + index) | 0;
    });
    return { node, start, repository, fsync, loop, used: total() - before };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const number = (value: number): string => Math.round(value).toLocaleString("en");
const ms = (seconds: number): string => `${(seconds * 1_000).toFixed(1)} ms`;

/**
 * What a run used, in all and a wing, beside what this machine takes for a bare `node -e 0`; only told, as machines
 * differ. `hold`: how many times that the run should take at most; undefined where nothing is held.
 */
export function cpuLines(used: ReadonlyMap<string, number>, machine: Calibration, hold?: number): string[] {
  const total = [...used.values()].reduce((sum, seconds) => sum + seconds, 0);
  const times = (seconds: number): string => (machine.node === 0 ? "?" : number(seconds / machine.node));
  const held = hold === undefined ? "" : `; to hold for the whole of it: ${number(hold)}`;
  return [
    `CPU of the tests: ${total.toFixed(1)} s = ${times(total)} × a bare node -e 0 (${machine.node.toFixed(3)} s${held})`,
    ...[...used]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(
        ([wing, seconds]) => `  ${wing.padEnd(10)} ${seconds.toFixed(1).padStart(6)} s ${times(seconds).padStart(6)} ×`,
      ),
    `This machine: a start of true ${ms(machine.start)}, a git repository ${ms(machine.repository)}, ten million rounds of a loop ` +
      `${ms(machine.loop)} of CPU; an fsync ${ms(machine.fsync)}. Measuring it took ${machine.used.toFixed(1)} CPU s more.`,
  ];
}
