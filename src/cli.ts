#!/usr/bin/env node
// This file and ralph.ts alone set the exit code. It imports nothing heavy: `--version` costs little more than Node.
import packageJson from "../package.json" with { type: "json" };

const args = process.argv.slice(2);
const version = packageJson.version;

if (args.length === 1 && (args[0] === "--version" || args[0] === "-v" || args[0] === "-V")) console.log(version);
else {
  const { runProgram } = await import("./engine/ui/program.js");
  process.exitCode = await runProgram({
    name: "research-ralph",
    run: async (io) => await (await import("./commands/main.js")).main(args, io, version),
    fail: async (error, io) => await (await import("./commands/main.js")).reportError(error, args, io),
  });
}
