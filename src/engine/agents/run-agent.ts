import { shellWord } from "../lib/sanitise.js";
import { existsSync } from "node:fs";
import { lstat, mkdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { timeoutReason, durationText } from "../lib/clock.js";
import { messageOf } from "../lib/errors.js";
import type { ProcessEnd } from "../process/run-process.js";
import { openTranscript } from "../process/transcript.js";
import { briefOf } from "../lib/layout.js";
import { redactFor } from "../lib/redact.js";
import type { Agent, AgentEnd, AgentEvent, Brief, Failure } from "../loop/types.js";
import {
  type AgentContext,
  type AgentDefinition,
  type AgentSettings,
  isFailure,
  type Invocation,
  confinementWithoutSandbox,
  type PreparedFile,
  type Reader,
} from "./definition.js";
import { programIn } from "../process/search-path.js";
import { installedAgents } from "./adapters.js";
import { firstWord } from "./command.js";
import { accessAdvice, isTooOld, quote, recogniseFailure } from "./failures.js";
import { briefForSandbox, startSettings } from "./in-sandbox.js";
import { withPrice } from "./prices.js";
import { withoutUndefined } from "../lib/without-undefined.js";

/** Maximum size of a brief in bytes: Codex and Amp accept no more on stdin. */
export const maxBriefBytes = 1_048_576;

/** An agent that starts the command of the definition for every brief. */
export function agentFrom(definition: AgentDefinition, context: AgentContext): Agent {
  const { name, settings } = context;
  const redact = redactFor(settings.env, { ...context.options.env }, ...settings.secrets);
  const confinement = confinementOf(definition, settings);
  const versionQuery = createVersionQuery(definition, context);
  return {
    name,
    confinement,
    free: definition.free,
    reportsNoUsage: definition.reportsNoUsage,
    // In classic mode, the agent uses only the tools that its user configured.
    ...(canUseTools(definition, settings) ? { takesTools: true as const } : {}),
    ...(definition.takesTemperature === true ? { takesTemperature: true as const } : {}),
    async *run(brief, { signal, maxUsd, maxMs }): AsyncGenerator<AgentEvent> {
      const invocation = invocationFor(definition, briefForSandbox(brief, context), context, maxUsd);
      if (isFailure(invocation)) return yield endWithFailure(invocation);
      try {
        for (const file of invocation.files ?? []) await prepareFile(file);
      } catch (error) {
        return yield endWithFailure({
          kind: "crashed",
          message: `${name} could not be started, because a file it needs could not be written: ${messageOf(error)}.`,
        });
      }

      const start = startSettings(definition, context, brief, invocation);
      if (start === undefined)
        return yield endWithFailure(startFailure(name, invocation.command, missingProgram, settings));
      const reader = definition.reader();
      // A timer treats 0 as no limit.
      const timeoutMs = Math.max(1, Math.min(settings.iterationMs, maxMs ?? Infinity));
      const transcript = settings.transcript(brief.iteration);
      if (transcript !== undefined) saveBrief(transcript, redact(brief.text));
      const runningQuery = versionQuery.ask();
      const lines = settings.exec({
        ...start,
        cwd: brief.workspace,
        stdin: brief.text,
        timeoutMs,
        idleMs: settings.idleMs,
        isFinished: () => reader.isFinished(),
        signal,
        redact,
        transcript,
      });
      let end: ProcessEnd;
      try {
        for (;;) {
          const step = await lines.next();
          if (step.done === true) {
            end = step.value;
            break;
          }
          for (const event of reader.line(step.value))
            yield withKnownDetails(event, reader, definition, context, versionQuery.lastVersion());
        }
      } finally {
        runningQuery.stop();
        await lines.return({ cause: "aborted", stderr: "" });
      }
      for (const message of end.notices ?? []) yield { type: "notice", message };
      if (end.transcriptProblem !== undefined) yield { type: "notice", message: end.transcriptProblem };
      const endDetails = { timeoutMs, abortReason: signal.reason as unknown };
      const { failure: failureWithoutAdvice, ...endEvent } = judgeEnd(end, reader, invocation, context, endDetails);
      const failure = failureWithoutAdvice && withAdvice(failureWithoutAdvice, definition, context);
      // The message quotes stderr and is written to the ledger, so secrets are removed.
      yield failure === undefined
        ? endEvent
        : { ...endEvent, failure: { ...failure, message: redact(failure.message) } };
    },
  };
}

function confinementOf(definition: AgentDefinition, settings: AgentSettings): Agent["confinement"] {
  if (settings.classic) return "unconfined";
  return settings.sandbox === undefined ? confinementWithoutSandbox(definition, settings) : "sandbox";
}

const canUseTools = ({ takesTools: definitionTakesTools }: AgentDefinition, { classic }: AgentSettings): boolean =>
  !classic && definitionTakesTools === true;

/**
 * Writes the brief beside the transcript. Only the user reads this file, so a full disk does not stop the agent, and an
 * incomplete file is not reported.
 */
function saveBrief(transcript: string, text: string): void {
  const file = openTranscript(briefOf(transcript), Number.POSITIVE_INFINITY);
  file.write(Buffer.from(text));
  file.close();
}

/**
 * Queries the version of an agent's program, only once and while the agent works, so nothing waits for it. An iteration
 * that ends before the answer has no version.
 */
function createVersionQuery(definition: AgentDefinition, context: AgentContext) {
  let [isAsked, version]: [boolean, string | undefined] = [false, undefined];
  return {
    lastVersion: () => version,
    /** `stop` ends a program that has not answered yet. */
    ask() {
      const controller = new AbortController();
      const stop = () => controller.abort();
      if (isAsked || definition.version === undefined) return { stop };
      isAsked = true;
      definition.version(context, controller.signal).then(
        (reported) => void (version = reported),
        () => undefined,
      );
      return { stop };
    },
  };
}

/** A usage event with the price, the billing, the version of the program, and whether it is the last one. */
function withKnownDetails(
  event: AgentEvent,
  reader: Reader,
  definition: AgentDefinition,
  context: AgentContext,
  version: string | undefined,
): AgentEvent {
  const pricedEvent = withPrice(
    event,
    definition.modelOf === undefined ? context.options.model : definition.modelOf(context),
  );
  if (pricedEvent.type !== "usage") return pricedEvent;
  const billing = pricedEvent.billing ?? definition.billing?.(context);
  const details = withoutUndefined({ billing, version: pricedEvent.version ?? version });
  return { ...pricedEvent, ...details, ...(reader.isFinished() ? { final: true } : {}) };
}

function invocationFor(
  definition: AgentDefinition,
  brief: Brief,
  context: AgentContext,
  maxUsd: number | undefined,
): Invocation | Failure {
  const bytes = Buffer.byteLength(brief.text);
  if (bytes > maxBriefBytes) {
    return {
      kind: "too-large",
      message: `The brief is ${bytes} bytes long; agents take at most ${maxBriefBytes} on stdin.`,
    };
  }
  return definition.invoke(brief, context, maxUsd);
}

interface EndDetails {
  readonly timeoutMs: number;
  /** The reason of the aborted signal; undefined if it was not aborted. */
  readonly abortReason: unknown;
}

/**
 * The result of the iteration. Our own timeouts decide first, then the CLI's protocol, then its stderr. Exit code 0
 * without a final message is not a success.
 */
function judgeEnd(
  end: ProcessEnd,
  reader: Reader,
  { command }: Invocation,
  { name, settings }: AgentContext,
  { timeoutMs, abortReason }: EndDetails,
): AgentEnd {
  switch (end.cause) {
    case "timeout":
      return endWith("timeout", `${name} was ended because it took longer than ${durationText(timeoutMs)}.`);
    case "idle": {
      const limitFailure = limitIn(end.stderr, name);
      if (limitFailure !== undefined) return endWithFailure(limitFailure);
      return endWith("idle", `${name} was ended because it printed nothing for ${durationText(settings.idleMs)}.`);
    }
    case "resources":
      return endWith(
        "resources",
        `${name} was ended because it used too much: ${end.resource ?? "a limit was exceeded"}.`,
      );
    case "aborted":
      return endWith(
        "aborted",
        `${name} was ended because ${abortReason === timeoutReason ? "the time of this run was up" : "the run was interrupted"}.`,
      );
    case "not-started":
      return endWithFailure(startFailure(name, command, end, settings));
  }
  const { message, failure } = reader.answer();
  if (failure !== undefined) return endWithFailure(failure);
  const isSuccess = end.cause === "settled" || end.exitCode === 0;
  if (isSuccess && message !== undefined) return { type: "end", message };

  const lastLine = isSuccess ? "" : (reader.lastLine?.() ?? "");
  const knownFailure = recogniseFailure(end.stderr, name, Date.now()) ?? limitIn(lastLine, name);
  if (knownFailure !== undefined) return endWithFailure(knownFailure);
  const lastError = quote(end.stderr) || quote(lastLine);
  // With these codes, the shell reports that a program is missing or not executable. Another try would fail too.
  if (command === "sh" && (end.exitCode === 127 || end.exitCode === 126)) {
    const reason = lastError === "" ? `its shell ended with exit code ${end.exitCode}` : lastError;
    const advice = isOutsidePath(name, settings)
      ? " Its program is in no folder of PATH: name it with its folder, or extend PATH (cron sets a short one)."
      : ` Correct the command, or name another agent with --agent.${sandboxAdvice(command, settings, name)}`;
    return endWith("missing", `${name} can't be started: ${reason}.${advice}`);
  }
  const errorClause = lastError === "" ? "" : `; it said: ${lastError}`;
  if (isSuccess) return endWith("no-answer", `${name} ended without an answer${errorClause}.`);
  const endText = end.signal === undefined ? `with exit code ${end.exitCode}` : `by ${end.signal}`;
  // If the error names an existing file, the sandbox probably hides that file.
  const isFileHidden = pathsIn(end.stderr).some((path) => existsSync(path) && !name.includes(path));
  const advice = isFileHidden ? sandboxAdvice(command, settings, name) : "";
  return endWith("crashed", `${name} ended ${endText}${errorClause}.${advice}`);
}

/** Absolute paths in a text, except those that every sandbox shows. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/(?<![\w.:/])\/[^\s'"`:;,()]+/g)].map(([path]) => path).filter((path) => !path.startsWith("/usr/"));

/** Whether an agent is a command whose program has no path and is in no folder of PATH. */
function isOutsidePath(name: string, { env }: AgentSettings): boolean {
  const program = name.startsWith("cmd:") ? firstWord(name.slice(4).trim()) : undefined;
  return program !== undefined && !program.includes("/") && programIn(env["PATH"] ?? "", program) === undefined;
}

/** Advice for a command of the user that misses a file of this machine in its sandbox. */
function sandboxAdvice(command: string, { sandbox }: AgentSettings, name: string): string {
  if (command !== "sh" || sandbox === undefined) return "";
  const instruction = name.startsWith("cmd:")
    ? `write 'agents: { mine: { command: ${shellWord(name.slice(4))}, read: [<folder>] } }' into ralph.config.yaml and use --agent mine`
    : `name the folder under 'read' of the agent ${name} in the configuration`;
  return ` It runs in a sandbox, where it sees only the files that its command names; to show it more, ${instruction}; with --unconfined it sees all files.`;
}

/** A rate limit that a program reported in its output. Other errors there are ignored. */
function limitIn(output: string, name: string): Failure | undefined {
  const failure = recogniseFailure(output, name, Date.now());
  return failure?.kind === "rate-limit" ? failure : undefined;
}

const missingProgram: ProcessEnd = { cause: "not-started", startError: { code: "ENOENT", message: "" }, stderr: "" };

function startFailure(
  name: string,
  command: string,
  { startError }: ProcessEnd,
  { env, adapters }: AgentSettings,
): Failure {
  if (startError?.code === "ENOENT") {
    const installedNames = installedAgents(env);
    const modelFreeAdapter = adapters.find((adapter) => adapter.free === true);
    const suggestion =
      installedNames.length === 0
        ? `name another agent with --agent${modelFreeAdapter === undefined ? "" : `: ${modelFreeAdapter.name} needs no program`}`
        : `use what is installed here: --agent ${installedNames.join(" or --agent ")}`;
    return {
      kind: "missing",
      message: `${name} can't be started, because there is no program ${command}; install it ('research-ralph doctor' says how), or ${suggestion}.`,
    };
  }
  if (startError?.code === "E2BIG")
    return { kind: "too-large", message: `${name} can't be started, because its arguments are too long.` };
  if (startError?.code === "image")
    return { kind: "missing", message: `${name} can't be started: ${startError.message}.` };
  if (startError?.code === "EACCES")
    return { kind: "missing", message: `${name} can't be started, because ${command} is not executable.` };
  return {
    kind: "crashed",
    message: `${name} could not be started: ${startError?.message ?? "the system does not say why"}.`,
  };
}

const endWithFailure = (failure: Failure): AgentEnd => ({ type: "end", message: "", failure });
const endWith = (kind: Failure["kind"], message: string): AgentEnd => endWithFailure({ kind, message });

/** The failure with advice for this agent. */
function withAdvice(
  { kind, message, ...otherFields }: Failure,
  { name: type, oldestTested: oldest, keyVariables = [] }: AgentDefinition,
  { name, settings, options }: AgentContext,
): Failure {
  const env = { ...settings.env, ...options.env };
  if (kind === "unusable" && oldest !== undefined && isTooOld(message))
    return {
      kind,
      message: `${message.replace(/ Update it\.$/, "")} It needs ${type} ${oldest.version} or newer: update it with \`${oldest.updateCommand}\`.`,
    };
  if (kind !== "auth" || !message.endsWith(accessAdvice)) return { kind, message, ...otherFields };
  const key = keyVariables.find((variable) => (env[variable] ?? "") !== "");
  const advice = key === undefined ? "Log in again, or set its key" : `The key in ${key} was refused: set another key`;
  return {
    kind,
    message: `${message.slice(0, -accessAdvice.length)} ${advice}. \`research-ralph doctor --probe ${shellWord(name)}\` tests it.`,
    ...otherFields,
  };
}

/** Writes or links a file, if it differs: several agents may start at the same time. */
async function prepareFile(file: PreparedFile): Promise<void> {
  await mkdir(dirname(file.path), { recursive: true });
  if ("text" in file) {
    const currentText = await readFile(file.path, "utf8").catch(() => undefined);
    if (currentText !== file.text) await writeFile(file.path, file.text);
    return;
  }
  if ((await readlink(file.path).catch(() => undefined)) === file.linkTo) return;
  // A CLI may renew its login by renaming a new file over the link. That file is then the only valid login, so it
  // stays.
  const [currentFile, targetFile] = await Promise.all(
    [file.path, file.linkTo].map((path) => lstat(path).catch(() => undefined)),
  );
  if (currentFile?.isFile() === true && targetFile !== undefined && currentFile.mtimeMs > targetFile.mtimeMs) return;
  await rm(file.path, { force: true });
  await symlink(file.linkTo, file.path);
}
