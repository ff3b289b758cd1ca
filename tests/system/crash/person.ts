import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  type FSWatcher,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  watch,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { killProcesses } from "../../support/processes/kill-processes.js";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import type { Random } from "./random.js";
import { gitIsIdle, gitProcessesIn } from "./runs.js";

/** A folder in which a person works on one project, whose records come from lists that databases export. */
export interface Desk {
  readonly root: string;
  readonly folder: string;
  readonly env: Record<string, string>;
  rrd(): Rrd;
  /** A new list of five records that no other list holds; its name. */
  newList(): string;
  remove(): void;
}

const causes = "zinc water light noise heat cold salt iron sleep fat".split(" ");
const animals = "shrews moles voles bats hedgehogs mice".split(" ");

/** Every second record is on growth; the others are on memory, which the project excludes. */
const record = (n: number): string => {
  const [cause, animal] = [causes[n % 10] ?? "", animals[Math.floor(n / 10) % 6] ?? ""];
  const grows = n % 2 === 0 ? "growth" : "memory";
  return (
    `TY  - JOUR\nTI  - Effects of ${cause} on the ${grows} of ${animal}: a cohort of region ${n}\nAU  - Sample${n}, Ann\nPY  - ${2000 + (n % 24)}\n` +
    `JO  - Journal of ${animal}\nAB  - We studied ${cause} in ${animal}. The ${grows} rose by ${n}% where there was much of it.\nVL  - 3\nSP  - ${10 + n}\nER  - \n`
  );
};
const list = (from: number, until: number): string =>
  Array.from({ length: until - from }, (_, index) => record(from + index)).join("\n");

/** A project over two lists that overlap, as `new` makes it. `sources` answer on this machine. */
export function newDesk(cli: string, sources: object): Desk {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "rr-desk-")));
  writeFileSync(join(root, "one.ris"), list(0, 18));
  writeFileSync(join(root, "two.ris"), list(12, 24));
  writeFileSync(join(root, "ralph.config.json"), JSON.stringify({ state_dir: join(root, "state"), sources }));
  const env = { PATH: process.env["PATH"] ?? "", HOME: root, TERM: "xterm", GIT_CONFIG_NOSYSTEM: "1" };
  const trusted = { ...env, RESEARCH_RALPH_TRUST: "true", RESEARCH_RALPH_CHECK: "false" };
  spawnSync("git", ["init", "-q", "-b", "main"], { cwd: root, env });
  const made = spawnSync(
    process.execPath,
    [
      ...[cli, "new", "growth of animals", "--name", "walk", "--source", "one.ris,two.ris", "-p", "10", "--keyword"],
      ...["growth", "--criterion", "exclude: memory", "--agent", "baseline", "--json"],
    ],
    { cwd: root, env: trusted, encoding: "utf8" },
  );
  if (made.status !== 0) throw new Error(`new ended with ${made.status}: ${made.stderr}`);
  const folder = join(root, "researches", readdirSync(join(root, "researches"))[0] ?? "");
  let next = 100;
  return {
    root,
    folder,
    env: trusted,
    rrd: () => JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd,
    newList() {
      const name = `more-${next}.ris`;
      writeFileSync(join(root, name), list(next, (next += 5)));
      return name;
    },
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Does something to a folder and puts every byte of it back. Its path stays: it is part of what a command signs. */
export async function tryOut<Value>(folder: string, work: () => Promise<Value>): Promise<Value> {
  const copy = `${folder}.copy`;
  cpSync(folder, copy, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  try {
    return await work();
  } finally {
    await gitIsIdle(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    renameSync(copy, folder);
  }
}

/** How one command ended. */
export interface Ended {
  /** Undefined where it was killed. */
  readonly code?: number;
  readonly out: string;
  readonly err: string;
  readonly ms: number;
  /** Changes of the folder's files that were seen. */
  readonly writes: number;
}

/** When a command is killed: after so many milliseconds, or so many milliseconds after the folder's nth change. */
export interface Instant {
  readonly delayMs: number;
  readonly afterWrite?: number;
  readonly gitToo: boolean;
}

/** Half of the instants lie anywhere in the life of a command, half beside a write. */
export function instantIn({ ms, writes }: Pick<Ended, "ms" | "writes">, random: Random): Instant {
  const gitToo = random.next() < 0.5;
  if (writes === 0 || random.next() < 0.5) return { delayMs: random.next() * 1.05 * ms, gitToo };
  return { delayMs: random.next() * 4, afterWrite: 1 + Math.floor(random.next() * writes), gitToo };
}

/** Runs one command to its end or until the instant, when its whole process group gets SIGKILL. */
export async function act(cli: string, desk: Desk, args: readonly string[], instant?: Instant): Promise<Ended> {
  const begun = performance.now();
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: desk.root,
    env: desk.env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${cli} did not start`);
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const closed = once(child, "close") as Promise<[number | null]>;
  const changes = watchWrites(desk, instant?.afterWrite);
  if (instant !== undefined) {
    if (instant.afterWrite !== undefined) await Promise.race([changes.reached, closed]);
    await Promise.race([sleep(instant.delayMs), closed]);
    if (child.exitCode === null && child.signalCode === null) killGroup(pid, desk, instant.gitToo);
  }
  const [code] = await closed;
  const writes = changes.stop();
  await afterKill(desk);
  return { out, err, ms: performance.now() - begun, writes, ...(code === null ? {} : { code }) };
}

export function killGroup(pid: number, { root }: Desk, gitToo: boolean): void {
  killProcesses([-pid]);
  if (gitToo) killProcesses(gitProcessesIn(root));
}

/** A git that was left alone finishes. A lock that one left which was killed is deleted, as a person does who was told of it. */
export async function afterKill({ root }: Desk): Promise<void> {
  await gitIsIdle(root);
  for (const lock of ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
    rmSync(join(root, ".git", lock), { force: true });
}

function watchWrites({ folder }: Desk, wanted = Number.POSITIVE_INFINITY) {
  let writes = 0;
  let resolve = (): void => undefined;
  const reached = new Promise<void>((done) => (resolve = done));
  const watchers: FSWatcher[] = [folder, join(folder, ".ralph"), join(folder, ".ralph/journal")].flatMap((each) => {
    try {
      return watch(each, () => {
        writes += 1;
        if (writes >= wanted) resolve();
      });
    } catch {
      return [];
    }
  });
  return {
    reached,
    stop() {
      for (const watcher of watchers) watcher.close();
      return writes;
    },
  };
}

/** Keeps the folder of a fault where nobody clears it; its path. */
export function keep(root: string): string {
  const kept = packageFile(join(".build/crash", `${basename(root)}-${Date.now()}`));
  cpSync(root, kept, { recursive: true, verbatimSymlinks: true });
  return kept;
}
