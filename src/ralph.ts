#!/usr/bin/env node
// The program `ralph`. As in cli.ts, only this file sets process.exitCode, and --version loads little.
import type { ProgramServices } from "./assistant/tools/context.js";
import { packageVersion } from "./engine/lib/package-root.js";
import type { Io } from "./engine/ui/io.js";

const args = process.argv.slice(2);
const version = packageVersion();

/** The other wings are loaded by the first tool that needs one of them. */
function handedLater(io: Io): ProgramServices {
  const load = async () => (await import("./compose/assistant.js")).programServices(io);
  return {
    tools: async () => await (await load()).tools(),
    briefTools: async (flags) => await (await load()).briefTools(flags),
    http: async (signal) => await (await load()).http(signal),
    readDocument: async (bytes, hints) => await (await load()).readDocument(bytes, hints),
  };
}

if (args.length === 1 && (args[0] === "--version" || args[0] === "-v")) console.log(version);
else {
  const { runProgram } = await import("./engine/ui/program.js");
  process.exitCode = await runProgram({
    name: "ralph",
    async run(io) {
      const [{ main }, { configKeys }, { repairAfterKill }, { oldNames, summaries }] = await Promise.all([
        import("./assistant/main.js"),
        import("./compose/config.js"),
        import("./commands/heal.js"),
        import("./commands/help-text.js"),
      ]);
      for (const sentence of await repairAfterKill(io)) io.stderr(`warning: ${sentence}\n`);
      return await main(
        args,
        io,
        { version, keys: configKeys, otherCommands: new Set(Object.keys({ ...summaries, ...oldNames })) },
        { servicesFor: handedLater },
      );
    },
    fail: async (error, io) => (await import("./assistant/main.js")).fail(error, io),
  });
}
