import { Worker } from "node:worker_threads";
import { locateSyntaxError } from "../../engine/storage/json-syntax.js";
import type { ContainsText, JsonValid } from "../generated/ralph.js";
import { contentOf, type CheckResult, type Place } from "../place/run.js";

/** Whether a file contains a text, or matches a regular expression. */
export async function checkContent(
  { path, text, pattern, flags = "" }: ContainsText,
  place: Place,
): Promise<CheckResult> {
  const content = await contentOf(place, path);
  if (content.problem !== undefined) return unreadable(content);
  const fileText = content.bytes.toString("utf8");
  if (text !== undefined)
    return fileText.includes(text)
      ? { passed: true, detail: `${path} contains the text.` }
      : {
          passed: false,
          detail: `${path} does not contain "${text.slice(0, 300)}"; it begins with: ${fileText.slice(0, 300)}`,
        };
  const answer = await matches(pattern ?? "", flags, fileText);
  if (answer === "timeout")
    return {
      passed: false,
      detail: `The pattern took longer than one second on ${path}; write a simpler one.`,
      isUndecided: true,
    };
  if (answer !== true && answer !== false)
    return { passed: false, detail: `The pattern failed: ${answer}.`, isUndecided: true };
  return answer
    ? { passed: true, detail: `${path} matches.` }
    : {
        passed: false,
        detail: `${path} does not match /${pattern}/${flags}; it begins with: ${fileText.slice(0, 300)}`,
      };
}

const unreadable = ({
  problem,
  isUndecided,
}: {
  readonly problem: string;
  readonly isUndecided?: true;
}): CheckResult => ({ passed: false, detail: problem, isUndecided });

/** Maximum milliseconds of a match, because some patterns need exponential time. */
const maxMatchMs = 1_000;

/** Matches a pattern in a separate thread, because a match can't be stopped in this thread. */
function matches(pattern: string, flags: string, text: string): Promise<boolean | "timeout" | string> {
  const code = `
    const { parentPort, workerData: { pattern, flags, text } } = require("node:worker_threads");
    parentPort.postMessage(new RegExp(pattern, flags).test(text));`;
  return new Promise((resolve) => {
    const worker = new Worker(code, { eval: true, workerData: { pattern, flags, text } });
    let timer: NodeJS.Timeout | undefined;
    const finish = (answer: boolean | string): void => {
      clearTimeout(timer);
      void worker.terminate();
      resolve(answer);
    };
    // The time counts from the start of the thread: on a busy machine the start takes long.
    worker.once("online", () => (timer = setTimeout(finish, maxMatchMs, "timeout")));
    worker.once("message", finish);
    worker.once("error", ({ message }) => finish(message));
  });
}

/** Whether a file is valid JSON. */
export async function checkJson({ path }: JsonValid, place: Place): Promise<CheckResult> {
  const content = await contentOf(place, path);
  if (content.problem !== undefined) return unreadable(content);
  const text = content.bytes.toString("utf8").replace(/^\uFEFF/, "");
  try {
    JSON.parse(text);
    return { passed: true, detail: `${path} is valid JSON.` };
  } catch {
    const { line, column, message, hint } = locateSyntaxError(text);
    return { passed: false, detail: `${path}:${line}:${column}: ${message}.${hint === undefined ? "" : ` ${hint}`}` };
  }
}
