#!/usr/bin/env node
// Only this file sets process.exitCode. It imports nothing heavy: `--version` must cost little more than Node itself.
import { existsSync } from "node:fs";
import packageJson from "../package.json" with { type: "json" };

const args = process.argv.slice(2);
const version = packageJson.version;

if (args.length === 1 && (args[0] === "--version" || args[0] === "-v" || args[0] === "-V")) console.log(version);
else process.exitCode = isHere() ? await main() : 1;

/** Everything else asks for the current folder, and Node throws where that was deleted. */
function isHere(): boolean {
  try {
    process.cwd();
    return true;
  } catch {
    console.error("research-ralph: The folder you are in is not there any more; go to one that is.");
    return false;
  }
}

async function main(): Promise<number> {
  // Loaded before anything can fail: where too few files may be open, later is too late.
  const [{ processIo }, { messageOf, tooFewFiles }] = await Promise.all([
    import("./engine/ui/io.js"),
    import("./engine/lib/errors.js"),
  ]);
  const io = processIo();
  const fail = async (error: unknown): Promise<number> => {
    try {
      const { explain } = await import("./commands/explain.js");
      return explain(error, io, args);
    } catch {
      // Thrown on, it would come back here as an uncaught one, for ever.
      io.stderr(`research-ralph: ${tooFewFiles(error) ?? messageOf(error)}\n`);
      return 1;
    }
  };
  // Node tells of a full disk under stdout only after the write, so at the end it is asked for once more.
  process.once("exit", () => {
    if (io.readerGone.reason === "ENOSPC") process.exitCode ||= 1;
  });
  // What nobody awaited would otherwise print a stack trace and leave no report.
  process.on("uncaughtException", (error) => void fail(error).then((exitCode) => process.exit(exitCode)));
  try {
    const [{ buildProgram }, { summaries }, { withCommandFirst }] = await Promise.all([
      import("./commands/program.js"),
      import("./commands/help-text.js"),
      import("./commands/old-spelling.js"),
    ]);
    let exitCode = 0;
    const program = buildProgram(io, version, (code) => {
      exitCode = code;
    });
    const quiet = { writeOut: io.stdout, writeErr: () => {}, outputError: () => {} };
    for (const command of [program, ...program.commands]) command.exitOverride().configureOutput(quiet);
    const isFolder = (word: string) => existsSync(word) || existsSync(`researches/${word}`);
    await program.parseAsync(
      withCommandFirst(args, { commands: [...Object.keys(summaries), "create", "help"], isFolder }),
      { from: "user" },
    );
    return exitCode;
  } catch (error) {
    return fail(error);
  }
}
