import { text } from "node:stream/consumers";
import { ExpectedError } from "../../engine/lib/errors.js";
import { workIn } from "./answer.js";

// Reads the brief on stdin and does its unit in the current folder. Exit 1 when it can't.
try {
  process.stdout.write(workIn(process.cwd(), await text(process.stdin)));
} catch (error) {
  if (!(error instanceof ExpectedError)) throw error;
  process.stderr.write(`baseline agent: ${error.message}\n`);
  process.exitCode = 1;
}
