#!/usr/bin/env node
// The program `ralph`. As in cli.ts, only this file sets process.exitCode, and --version loads little.
import { packageVersion } from "./engine/lib/package-root.js";

const args = process.argv.slice(2);
const version = packageVersion();

if (args.length === 1 && (args[0] === "--version" || args[0] === "-v")) console.log(version);
else {
  const [{ processIo }, { main }, { configKeys }] = await Promise.all([
    import("./engine/ui/io.js"),
    import("./assistant/main.js"),
    import("./compose/config.js"),
  ]);
  process.exitCode = await main(args, processIo(), { version, keys: configKeys });
}
