import { basename, join } from "node:path";
import { redactorFor } from "../../compose/agents.js";
import { resolveConfig } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { listenForSignals } from "../../engine/ui/signals.js";
import { researchesName } from "../../research/project-files/layout.js";
import { findResearch, type FolderOptions, listResearches, shown } from "../../research/overview/find-research.js";
import { serveWeb } from "../../web/serve.js";
import { requirePerson } from "../steer/require-person.js";

interface WebOptions extends FolderOptions {
  /** 0: any that is free. */
  readonly port: number;
}

/**
 * Serves the local page of all projects, or of one, until `ended` (by default Ctrl+C), and prints its address. Changes
 * a project only where the person presses a button.
 */
export async function webCommand(
  { folder: argument, port, json }: WebOptions,
  io: Io,
  ended?: AbortSignal,
): Promise<number> {
  requirePerson(io.env);
  if (port > 65_535) throw new ExpectedError("--port must be 0 to 65535.", 2);
  const only = argument === undefined ? undefined : await findResearch(io.cwd, argument);
  const config = await resolveConfig(io);
  const signals = ended === undefined ? listenForSignals(io) : undefined;
  const end = ended ?? signals?.finish ?? AbortSignal.abort();
  try {
    const served = await serveWeb(
      {
        projects: () => (only === undefined ? listResearches(io.cwd) : Promise.resolve([only])),
        ...(only === undefined ? { root: join(io.cwd, researchesName) } : { only: basename(only) }),
        shown: (folder) => shown(io.cwd, folder),
        stateDir: config.stateDir,
        redact: redactorFor(config, io),
        now: () => io.clock.now(),
        warn: (message) => io.stderr(`warning: ${oneLine(message)}\n`),
      },
      port,
    );
    const printAnother = () => io.stdout(`${served.newAddress()}\n`);
    try {
      if (json) io.stdout(`${JSON.stringify({ address: served.address })}\n`);
      else {
        io.stdout(`${served.address}\n`);
        const more = io.canAsk ? "; Enter prints a new address, for another one" : "";
        io.stderr(
          `Open this address in a browser of this machine. It lets one browser in${more}. Ctrl+C ends the page.\n`,
        );
      }
      if (!json && io.canAsk) io.stdin.on("data", printAnother).resume();
      if (!end.aborted) await new Promise<void>((done) => end.addEventListener("abort", () => done(), { once: true }));
    } finally {
      io.stdin.off("data", printAnother);
      if (io.canAsk) io.stdin.pause();
      await served.close();
    }
  } finally {
    signals?.stop();
  }
  return 0;
}
