// What other programs may import. Everything else in the package is private and may change in any version.
import { Readable, Writable } from "node:stream";
import { runCommand } from "./commands/run/run.js";
import { repairAfterKill } from "./commands/heal.js";
import type { WrittenConfig } from "./compose/written-config.js";
import type { LoopEvent, Verdict } from "./engine/generated/event.js";
import { systemClock } from "./engine/lib/clock.js";
import { runProcess } from "./engine/process/run-process.js";
import type { Io } from "./engine/ui/io.js";

export type * from "./engine/generated/event.js";

/** How a project is to be run. */
export interface RunOptions {
  /** The project's folder, absolute or relative to `cwd`, or its name under `researches/` there. */
  readonly folder: string;
  /** Where the settings file and `researches/` are; by default the current folder. */
  readonly cwd?: string;
  /** The environment of the run and of its agents; by default that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Settings that go before the environment and the settings files, as the flags of `research-ralph run` do. */
  readonly settings?: Omit<WrittenConfig, "agents" | "sources" | "hooks" | "plugins"> & { readonly model?: string };
  /**
   * Trust settings of the folder that start programs or open the confinement as they stand, as `--trust` does; without
   * it `run` rejects where the user has not trusted them.
   */
  readonly trust?: boolean;
  /**
   * Told each event in its order, without secrets of the environment. The run waits for it to return; it must not
   * throw.
   */
  readonly onEvent?: (event: LoopEvent) => void;
  /**
   * Ends the run at once when it is aborted, as SIGTERM does; the verdict is `interrupted`, and another run goes on
   * from there.
   */
  readonly signal?: AbortSignal;
}

/**
 * Works on a project until there is a verdict, as `research-ralph run <folder>` does; nothing is printed. Rejects with
 * an Error of one sentence where it can't begin: no such project, an invalid file or setting, an agent that can't be
 * used, a run that is under way.
 */
export async function run(options: RunOptions): Promise<Verdict> {
  let verdict: Verdict | undefined;
  const io = ioOf(options, (event) => {
    if (event.type === "run-ended") verdict = event.verdict;
    options.onEvent?.(event);
  });
  for (const message of await repairAfterKill(io))
    options.onEvent?.({ type: "notice", level: "warning", message, at: new Date(io.clock.now()).toISOString() });
  const how = { force: false, classic: false, ask: false, quiet: true, json: true };
  await runCommand(
    { folder: options.folder, flags: { ...options.settings, trust: options.trust === true }, ...how },
    io,
  );
  if (verdict === undefined) throw new Error("The run ended without a verdict.");
  return verdict;
}

/** Surroundings in which nobody types, nobody reads, and one signal can come. */
function ioOf({ cwd = process.cwd(), env = process.env, signal }: RunOptions, tell: (event: LoopEvent) => void): Io {
  return {
    cwd,
    env: { ...env },
    clock: systemClock,
    signals: {
      on(name, handler) {
        if (name !== "SIGTERM" || signal === undefined) return;
        if (signal.aborted) handler();
        signal.addEventListener("abort", handler);
      },
      off: (_, handler) => signal?.removeEventListener("abort", handler),
      underNohup: false,
    },
    stdin: Readable.from([]),
    terminal: new Writable({ write: (_chunk, _encoding, done) => done() }),
    runProgram: runProcess,
    stdout: (line) => tell(JSON.parse(line) as LoopEvent),
    unread: 0,
    stderr: () => {},
    isTTY: false,
    columns: 80,
    tableWidth: 80,
    isShown: false,
    color: false,
    canAsk: false,
    readerGone: new AbortController().signal,
  };
}
