import type { PassThrough } from "node:stream";
import { main } from "../../../src/commands/main.js";
import { messageOf } from "../../../src/engine/lib/errors.js";
import { type ProcessEnd, type ProcessRequest, runProcess } from "../../../src/engine/process/run-process.js";
import { workOnBrief } from "../../../src/research/baseline-agent/answer.js";
import { fakeIo, type FakeIo } from "../../engine/ui/fake-io.js";
import { work as editFolder } from "./folder-agent.mjs";
import type { Ended } from "./built.js";
import { folderAgent, unitAgent } from "./command-agents.js";
import { work as doUnit } from "./unit-agent.mjs";

/** An agent of ours inside this process: its lines, given what it would read on stdin. */
type Work = (stdin: string, workspace: string, env: NodeJS.ProcessEnv) => AsyncIterable<string>;

async function* baseline(brief: string, workspace: string): AsyncGenerator<string> {
  yield* workOnBrief(workspace, brief).trimEnd().split("\n");
}

const functions = new Map<string, Work>();

/** The name of an agent that is this function, called in the folder where the agent works. */
export function agentThat(works: (workspace: string, stdin: string) => void): string {
  const line = `function ${functions.size}`;
  functions.set(line, async function* (stdin, workspace) {
    works(workspace, stdin);
    yield "done";
  });
  return `cmd:${line}`;
}

/** The agents that need no process of their own, by the command that starts them. */
function workOf({ command, args }: ProcessRequest): Work | undefined {
  if (command === process.execPath && args.some((arg) => arg.includes("baseline"))) return baseline;
  const line = command === "sh" ? args[1] : undefined;
  if (`cmd:${line}` === unitAgent) return doUnit;
  return `cmd:${line}` === folderAgent ? editFolder : functions.get(line ?? "");
}

/** As `runProcess` does it, but the agents of these tests run in this process; every other program is started. */
async function* runProgram(request: ProcessRequest): AsyncGenerator<string, ProcessEnd> {
  const work = workOf(request);
  if (work === undefined) return yield* runProcess(request);
  try {
    yield* work(request.stdin, request.cwd, request.env);
  } catch (error) {
    return { cause: "exited", exitCode: 1, stderr: messageOf(error) };
  }
  return { cause: request.signal.aborted ? "aborted" : "exited", exitCode: 0, stderr: "" };
}

/**
 * The outside of a command in `cwd`, which is HOME too. What is printed is kept; no other state is seen. A test is the
 * author of the settings it runs by, so they are trusted.
 */
export const ioIn = (cwd: string, env: Record<string, string> = {}, over: Parameters<typeof fakeIo>[0] = {}): FakeIo =>
  fakeIo({
    cwd,
    env: { PATH: process.env["PATH"], HOME: cwd, RESEARCH_RALPH_TRUST: "true", RESEARCH_RALPH_CHECK: "false", ...env },
    tableWidth: Number.POSITIVE_INFINITY,
    isShown: false,
    runProgram,
    ...over,
  });

/** Runs the command in this process, as the built one would run in `cwd`, which is HOME too. */
export async function cli(args: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<Ended> {
  const io = ioIn(cwd, env);
  const code = await main(args, io, "0.0.0");
  return { code, out: io.out(), err: io.err() };
}

/** Types keys once a question stands on the terminal of `io`. */
export function type({ stdin, terminal }: FakeIo, ...keys: readonly string[]): void {
  const [input, output] = [stdin, terminal] as unknown as readonly [PassThrough, PassThrough];
  const answers = [...keys];
  let isWaiting = false;
  output.on("data", () => {
    // Clack listens only after it has painted.
    if (isWaiting || answers.length === 0) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      input.write(answers.shift());
    }, 20);
  });
}
