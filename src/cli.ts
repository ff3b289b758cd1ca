#!/usr/bin/env node
// Only this file sets process.exitCode. It imports nothing heavy: `--version` must cost little more than Node itself.
import packageJson from "../package.json" with { type: "json" };

const args = process.argv.slice(2);
const version = packageJson.version;

if (args.length === 1 && (args[0] === "--version" || args[0] === "-v" || args[0] === "-V")) console.log(version);
else process.exitCode = isHere() ? await run() : 1;

/** Everything else asks for the current folder, and Node throws where that was deleted. */
function isHere(): boolean {
  try {
    process.cwd();
    return true;
  } catch {
    console.error("research-ralph: The current folder no longer exists; change to another folder.");
    return false;
  }
}

/** Hands this process to the command that is named; returns the exit code. */
async function run(): Promise<number> {
  // Loaded before anything can fail: where too few files may be open, later is too late.
  const [{ processIo }, { messageOf, tooFewFiles }] = await Promise.all([
    import("./engine/ui/io.js"),
    import("./engine/lib/errors.js"),
  ]);
  const io = processIo();
  // Node tells of a full disk under stdout only after the write, so at the end it is asked for once more.
  process.once("exit", () => {
    if (io.readerGone.reason === "ENOSPC") process.exitCode ||= 1;
  });
  try {
    const { main, fail } = await import("./commands/main.js");
    // What nobody awaited would otherwise print a stack trace and leave no report.
    process.on("uncaughtException", (error) => void fail(error, args, io).then((exitCode) => process.exit(exitCode)));
    return await main(args, io, version);
  } catch (error) {
    io.stderr(`research-ralph: ${tooFewFiles(error) ?? messageOf(error)}\n`);
    return 1;
  }
}
