import { basename, join } from "node:path";
import { redactorFor } from "../../compose/agents.js";
import { configToRead } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { listenForSignals } from "../../engine/ui/signals.js";
import { isBackgroundJob } from "../../engine/ui/terminal/keyboard.js";
import { researchesName } from "../../research/project-files/layout.js";
import type { FolderOptions } from "../../research/overview/find-research.js";
import { serveWeb } from "../../web/serve.js";
import type { ShownWork } from "../../web/followed-project.js";
import { type FoundWork, watchedFiles, findWork, kinds, listWork, standingOf } from "../kinds/find-work.js";
import { requirePerson } from "../steer/require-person.js";

interface WebOptions extends FolderOptions {
  /** The port; 0 for any free one. */
  readonly port: number;
}

/**
 * Serves the local pages of all projects and tasks, or of one, until `abortSignal` is aborted (by default with Ctrl+C),
 * and prints their address. Changes a project only if the user presses a button.
 */
export async function webCommand(
  { folder: argument, port, json }: WebOptions,
  io: Io,
  abortSignal?: AbortSignal,
): Promise<number> {
  requirePerson(io.env);
  if (port > 65_535) throw new ExpectedError("--port must be 0 to 65535.", 2);
  const onlyWork = argument === undefined ? undefined : await findWork(io.cwd, argument, listedKinds);
  const config = await configToRead(io);
  const signals = abortSignal === undefined ? listenForSignals(io) : undefined;
  const endSignal = abortSignal ?? signals?.finish ?? AbortSignal.abort();
  try {
    const page = await serveWeb(
      {
        works: async () =>
          (onlyWork === undefined ? await listWork(io.cwd) : [onlyWork]).map((work) => shownWork(work, io)),
        ...(onlyWork === undefined ? { root: join(io.cwd, researchesName) } : { onlyName: addressName(onlyWork) }),
        stateDir: config.stateDir,
        git: config.git,
        redact: redactorFor(config, io),
        now: () => io.clock.now(),
        warn: (message) => io.stderr(`warning: ${oneLine(message)}\n`),
      },
      port,
    );
    // The system stops a background job that reads the terminal, and its page would no longer answer.
    const readsEnter = io.canAsk && !isBackgroundJob();
    const printNewAddress = () => io.stdout(`${page.newAddress()}\n`);
    try {
      if (json) io.stdout(`${JSON.stringify({ address: page.address })}\n`);
      else {
        io.stdout(`${page.address}\n`);
        const enterHint = readsEnter ? "; press Enter for the address of another browser" : "";
        say(
          io,
          `Open this address in a browser on this machine. It works in one browser only${enterHint}. Ctrl+C closes the page.`,
        );
      }
      if (!json && readsEnter) io.stdin.on("data", printNewAddress).resume();
      if (!endSignal.aborted)
        await new Promise<void>((done) => endSignal.addEventListener("abort", () => done(), { once: true }));
    } finally {
      io.stdin.off("data", printNewAddress);
      if (readsEnter) io.stdin.pause();
      await page.close();
    }
  } finally {
    signals?.stop();
  }
  return 0;
}

/** The kinds of work that have pages: those that are listed. */
const listedKinds = kinds.filter(({ list }) => list !== undefined);

/**
 * The name of a project or task in addresses: the name of a project's folder, or "task~" and a task's path, such as
 * "task~sub"; "task" for a task in the current folder.
 */
const addressName = ({ kind, folder, path }: FoundWork): string =>
  kind.noun === "project"
    ? basename(folder)
    : [kind.noun, ...path.split(/[\\/]/).filter((part) => part !== "." && part !== "")].join("~");

/** Work in the form that the pages need. */
export const shownWork = (work: FoundWork, io: Io): ShownWork => ({
  name: addressName(work),
  folder: work.folder,
  isProject: work.kind.noun === "project",
  files: watchedFiles(work),
  readStanding: () => standingOf(work),
  steered: work.kind.steeredWork(work.folder, work.path),
  readInstructions: () => work.kind.readInstructions(work.folder),
  readCosts: () => work.kind.costs(work.folder, io),
  ...(work.kind.noun === "project"
    ? {
        ask: async (question: string) => (await import("../search/ask.js")).askForPage(work.folder, question, io),
        add: async (reference: string) => (await import("../steer/add.js")).addForPage(work.folder, reference, io),
      }
    : {}),
});
