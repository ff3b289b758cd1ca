import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { ExpectedError, messageOf } from "../../engine/lib/errors.js";
import { answer } from "./answer.js";
import { parseBrief } from "./brief.js";

/** Reads the brief on stdin, writes result.json into the current folder and says what it did. Exit 1 when it can't. */
async function main(): Promise<void> {
  const { result, message } = answer(parseBrief(await text(process.stdin)), readTextFile);
  writeFileSync("result.json", `${JSON.stringify(result, null, 2)}\n`);
  process.stdout.write(message);
}

/** Text files are named `paper/NN.txt` by the brief; nothing else is opened, whatever the brief names. */
function readTextFile(name: string): string {
  const path = join("paper", basename(name));
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new ExpectedError(`The text file ${path} that the brief names can't be read: ${messageOf(error)}.`);
  }
}

try {
  await main();
} catch (error) {
  if (!(error instanceof ExpectedError)) throw error;
  process.stderr.write(`baseline agent: ${error.message}\n`);
  process.exitCode = 1;
}
