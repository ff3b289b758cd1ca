#!/usr/bin/env node
// The program `ralph`. As cli.ts does, it alone sets process.exitCode and loads nothing heavy for --version.
import packageJson from "../package.json" with { type: "json" };

const args = process.argv.slice(2);
const { version } = packageJson;

if (args.length === 1 && (args[0] === "--version" || args[0] === "-v")) console.log(version);
else {
  const [{ processIo }, { main }] = await Promise.all([import("./engine/ui/io.js"), import("./assistant/main.js")]);
  process.exitCode = await main(args, processIo(), version);
}
