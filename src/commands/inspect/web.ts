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
import { type FoundWork, filesOf, findWork, kinds, listWork, lookAt } from "../kinds/find-work.js";
import { requirePerson } from "../steer/require-person.js";

interface WebOptions extends FolderOptions {
  /** The port; 0 for any free one. */
  readonly port: number;
}

/**
 * Serves the local pages of all projects and tasks, or of one, until `ended` is aborted (by default with Ctrl+C), and
 * prints their address. Changes a project only if the person presses a button.
 */
export async function webCommand(
  { folder: argument, port, json }: WebOptions,
  io: Io,
  ended?: AbortSignal,
): Promise<number> {
  requirePerson(io.env);
  if (port > 65_535) throw new ExpectedError("--port must be 0 to 65535.", 2);
  const only = argument === undefined ? undefined : await findWork(io.cwd, argument, listedKinds);
  const config = await configToRead(io);
  const signals = ended === undefined ? listenForSignals(io) : undefined;
  const endSignal = ended ?? signals?.finish ?? AbortSignal.abort();
  try {
    const page = await serveWeb(
      {
        works: async () => (only === undefined ? await listWork(io.cwd) : [only]).map((work) => shownWork(work, io)),
        ...(only === undefined ? { root: join(io.cwd, researchesName) } : { only: nameOf(only) }),
        stateDir: config.stateDir,
        git: config.git,
        redact: redactorFor(config, io),
        now: () => io.clock.now(),
        warn: (message) => io.stderr(`warning: ${oneLine(message)}\n`),
      },
      port,
    );
    // A background job would be stopped by reading the terminal, and its page with it.
    const readsEnter = io.canAsk && !isBackgroundJob();
    const printAnother = () => io.stdout(`${page.newAddress()}\n`);
    try {
      if (json) io.stdout(`${JSON.stringify({ address: page.address })}\n`);
      else {
        io.stdout(`${page.address}\n`);
        const enterHint = readsEnter ? "; Enter prints a new address, for another one" : "";
        say(
          io,
          `Open this address in a browser of this machine. It lets one browser in${enterHint}. Ctrl+C ends the page.`,
        );
      }
      if (!json && readsEnter) io.stdin.on("data", printAnother).resume();
      if (!endSignal.aborted)
        await new Promise<void>((done) => endSignal.addEventListener("abort", () => done(), { once: true }));
    } finally {
      io.stdin.off("data", printAnother);
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
 * The name of work in addresses: a project's folder name, or a task's path: "task~sub", or "task" for the current
 * folder.
 */
const nameOf = ({ kind, folder, where }: FoundWork): string =>
  kind.noun === "project"
    ? basename(folder)
    : [kind.noun, ...where.split(/[\\/]/).filter((part) => part !== "." && part !== "")].join("~");

/** Work in the form that the pages need. */
export const shownWork = (work: FoundWork, io: Io): ShownWork => ({
  name: nameOf(work),
  folder: work.folder,
  isProject: work.kind.noun === "project",
  files: filesOf(work),
  look: () => lookAt(work),
  steered: work.kind.steered(work.folder, work.where),
  heard: () => work.kind.heard(work.folder),
  costs: () => work.kind.costs(work.folder, io),
  ...(work.kind.noun === "project"
    ? {
        ask: async (question: string) => (await import("../search/ask.js")).askForPage(work.folder, question, io),
        add: async (reference: string) => (await import("../steer/add.js")).addForPage(work.folder, reference, io),
      }
    : {}),
});
