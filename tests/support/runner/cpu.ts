import { readFileSync } from "node:fs";
import { packageFile } from "../../../src/engine/lib/package-root.js";

/** Where the test files of this run note their CPU seconds; undefined outside of a run that counts them. */
export const cpuFile = (): string | undefined => process.env["RR_CPU_FILE"];

/** Clock ticks a second in /proc; Linux shows 100 to programs, whatever the kernel uses. */
const ticks = 100;

/** CPU seconds, user and system, of this process and, on Linux, of all children it has waited for. */
export function cpuSeconds(): number {
  try {
    // The name of the program stands in brackets and may hold spaces.
    const fields = readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")
      .map(Number);
    const used = fields.slice(11, 15);
    return used.reduce((sum, each) => sum + each, 0) / ticks;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}

/** The wing a test file belongs to: its folder below tests/. */
export const wingOf = (path: string): string => path.slice(packageFile("tests").length + 1).split("/")[0] ?? "";

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

/**
 * One line a wing: used, budget, and what to do where it is over. `budgets` in CPU seconds; a wing without one is only
 * told.
 */
export function cpuLines(used: ReadonlyMap<string, number>, budgets: Readonly<Record<string, number>>): string[] {
  const total = [...used.values()].reduce((sum, seconds) => sum + seconds, 0);
  const all = Object.values(budgets).reduce((sum, seconds) => sum + seconds, 0);
  const rows: [string, number, number | undefined][] = [
    ...[...used]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([wing, seconds]) => [wing, seconds, budgets[wing]] as [string, number, number | undefined]),
    ["all", total, all === 0 ? undefined : all],
  ];
  return rows.map(([wing, seconds, budget]) => {
    const over = budget !== undefined && seconds > budget ? "  over its budget" : "";
    const of = budget === undefined ? "" : ` of ${budget}`;
    return `  ${wing.padEnd(10)} ${seconds.toFixed(1).padStart(7)}${of} CPU s${over}`;
  });
}

/** The wings that used more than `factor` times their budget: no slow machine explains that. */
export const farOver = (
  used: ReadonlyMap<string, number>,
  budgets: Readonly<Record<string, number>>,
  factor = 3,
): string[] => [...used].flatMap(([wing, seconds]) => (seconds > (budgets[wing] ?? Infinity) * factor ? [wing] : []));
