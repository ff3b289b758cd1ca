import { text } from "node:stream/consumers";
import { ExpectedError } from "../../engine/lib/errors.js";
import { workOnBrief } from "./answer.js";

// Reads a brief from stdin and works on its unit in the current folder. Exits with 1 after a failure.
try {
  process.stdout.write(workOnBrief(process.cwd(), await text(process.stdin)));
} catch (error) {
  if (!(error instanceof ExpectedError)) throw error;
  process.stderr.write(`baseline agent: ${error.message}\n`);
  process.exitCode = 1;
}
