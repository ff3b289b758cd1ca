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
  ownConfinement,
  type PreparedFile,
  type Reader,
} from "./definition.js";
import { installedAgents } from "./adapters.js";
import { accessAdvice, isTooOld, quote, recogniseFailure } from "./failures.js";
import { briefInside, startSettings } from "./in-sandbox.js";
import { withPrice } from "./prices.js";
import { withoutUndefined } from "../lib/without-undefined.js";

/** Most bytes of a brief: Codex and Amp take no more on stdin. */
export const maxBriefBytes = 1_048_576;

/** An agent that starts the definition's command afresh for every brief. */
export function agentFrom(definition: AgentDefinition, context: AgentContext): Agent {
  const { name, settings } = context;
  const redact = redactFor(settings.env, { ...context.options.env }, ...settings.secrets);
  const heldBy = settings.sandbox === undefined ? ownConfinement(definition, settings) : "sandbox";
  const confinement = settings.classic ? "unconfined" : heldBy;
  const version = versionOnce(definition, context);
  return {
    name,
    confinement,
    ...(definition.free === true ? { free: true as const } : {}),
    // In classic mode the agent works with what its user gave it.
    ...(takesTools(definition, settings) ? { takesTools: true as const } : {}),
    ...(definition.takesTemperature === true ? { takesTemperature: true as const } : {}),
    async *run(brief, { signal, maxUsd, maxMs }): AsyncGenerator<AgentEvent> {
      const invocation = commandFor(definition, briefInside(brief, context), context, maxUsd);
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
      // A timer takes 0 for none.
      const timeoutMs = Math.max(1, Math.min(settings.iterationMs, maxMs ?? Infinity));
      const transcript = settings.transcript(brief.iteration);
      if (transcript !== undefined) keepBrief(transcript, redact(brief.text));
      const versionQuery = version.ask();
      const lines = settings.exec({
        ...start,
        cwd: brief.workspace,
        stdin: brief.text,
        timeoutMs,
        idleMs: settings.idleMs,
        finished: () => reader.finished(),
        signal,
        redact,
        ...withoutUndefined({ transcript }),
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
            yield withKnownDetails(event, reader, definition, context, version.known());
        }
      } finally {
        versionQuery.stop();
        await lines.return({ cause: "aborted", stderr: "" });
      }
      for (const message of end.notices ?? []) yield { type: "notice", message };
      if (end.transcriptProblem !== undefined) yield { type: "notice", message: end.transcriptProblem };
      const limits = { timeoutMs, why: signal.reason as unknown };
      const { failure: firstFailure, ...endEvent } = judgeEnd(end, reader, invocation, context, limits);
      const failure = firstFailure && withAdvice(firstFailure, definition, context);
      // It quotes stderr, and goes into the ledger.
      yield failure === undefined
        ? endEvent
        : { ...endEvent, failure: { ...failure, message: redact(failure.message) } };
    },
  };
}

const takesTools = ({ takesTools: definitionTakesTools }: AgentDefinition, { classic }: AgentSettings): boolean =>
  !classic && definitionTakesTools === true;

/** Kept for people alone, so a full disk does not stop an agent, and an incomplete file is not reported. */
function keepBrief(transcript: string, text: string): void {
  const file = openTranscript(briefOf(transcript), Number.POSITIVE_INFINITY);
  file.write(Buffer.from(text));
  file.close();
}

/**
 * The version of an agent's program, asked while the program works and once in the agent's life: it delays nothing, and
 * an iteration that ends first has none.
 */
function versionOnce(definition: AgentDefinition, context: AgentContext) {
  let [isAsked, knownDetails]: [boolean, string | undefined] = [false, undefined];
  return {
    known: () => knownDetails,
    /** `stop` ends a program that is still thinking about it. */
    ask() {
      const given = new AbortController();
      const stop = () => given.abort();
      if (isAsked || definition.version === undefined) return { stop };
      isAsked = true;
      definition.version(context, given.signal).then(
        (lastErrorText) => void (knownDetails = lastErrorText),
        () => undefined,
      );
      return { stop };
    },
  };
}

/** An event of usage with its price, how it is paid for, its program's version, and whether it is the last. */
function withKnownDetails(
  event: AgentEvent,
  reader: Reader,
  definition: AgentDefinition,
  context: AgentContext,
  version: string | undefined,
): AgentEvent {
  const knownDetails = withPrice(
    event,
    definition.modelOf === undefined ? context.options.model : definition.modelOf(context),
  );
  if (knownDetails.type !== "usage") return knownDetails;
  const billing = knownDetails.billing ?? definition.billing?.(context);
  const details = withoutUndefined({ billing, version: knownDetails.version ?? version });
  return { ...knownDetails, ...details, ...(reader.finished() ? { final: true } : {}) };
}

function commandFor(
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

interface Limits {
  readonly timeoutMs: number;
  /** Why the run's signal was aborted, where it was. */
  readonly why: unknown;
}

/** Our own clock first, then the CLI's protocol, then its stderr; the exit code alone is never trusted. */
function judgeEnd(
  end: ProcessEnd,
  reader: Reader,
  { command }: Invocation,
  { name, settings }: AgentContext,
  { timeoutMs, why }: Limits,
): AgentEnd {
  switch (end.cause) {
    case "timeout":
      return endWith("timeout", `${name} was ended because it took longer than ${durationText(timeoutMs)}.`);
    case "idle": {
      const why = limitIn(end.stderr, name);
      if (why !== undefined) return endWithFailure(why);
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
        `${name} was ended because ${why === timeoutReason ? "the time of this run was up" : "the run was interrupted"}.`,
      );
    case "not-started":
      return endWithFailure(startFailure(name, command, end, settings));
  }
  const { message, failure } = reader.answer();
  if (failure !== undefined) return endWithFailure(failure);
  const isSuccess = end.cause === "settled" || end.exitCode === 0;
  if (isSuccess && message !== undefined) return { type: "end", message };

  const printed = isSuccess ? "" : (reader.lastLine?.() ?? "");
  const recognised = recogniseFailure(end.stderr, name, Date.now()) ?? limitIn(printed, name);
  if (recognised !== undefined) return endWithFailure(recognised);
  const lastError = quote(end.stderr) || quote(printed);
  // A shell's words for a program that is not there or not executable; trying again would not change it.
  if (command === "sh" && (end.exitCode === 127 || end.exitCode === 126)) {
    const why = lastError === "" ? `its shell ended with exit code ${end.exitCode}` : lastError;
    return endWith(
      "missing",
      `${name} can't be started: ${why}. Correct the command, or name another agent with --agent.${sandboxAdvice(command, settings, name)}`,
    );
  }
  const lastErrorText = lastError === "" ? "" : `; it said: ${lastError}`;
  if (isSuccess) return endWith("no-answer", `${name} ended without an answer${lastErrorText}.`);
  const endText = end.signal === undefined ? `with exit code ${end.exitCode}` : `by ${end.signal}`;
  const hidden = namedFiles(end.stderr).some((path) => existsSync(path) && !name.includes(path));
  const advice = hidden ? sandboxAdvice(command, settings, name) : "";
  return endWith("crashed", `${name} ended ${endText}${lastErrorText}.${advice}`);
}

/** Absolute paths in a text, outside of what every sandbox shows. */
const namedFiles = (text: string): string[] =>
  [...text.matchAll(/(?<![\w.:/])\/[^\s'"`:;,()]+/g)].map(([path]) => path).filter((path) => !path.startsWith("/usr/"));

/** What to say of a command of the user's own that misses a file of this machine in its sandbox. */
function sandboxAdvice(command: string, { sandbox }: AgentSettings, name: string): string {
  if (command !== "sh" || sandbox === undefined) return "";
  const inFile = name.startsWith("cmd:")
    ? `write 'agents: { mine: { command: ${shellWord(name.slice(4))}, read: [<folder>] } }' into ralph.config.yaml and use --agent mine`
    : `name the folder under 'read' of the agent ${name} in the configuration`;
  return ` It runs in a sandbox that shows it only the files that its command names; to show it more, ${inFile}; --unconfined shows it all.`;
}

/** A limit that a program told in what it printed. Of anything else that stands there the loop makes nothing. */
function limitIn(printed: string, name: string): Failure | undefined {
  const firstFailure = recogniseFailure(printed, name, Date.now());
  return firstFailure?.kind === "rate-limit" ? firstFailure : undefined;
}

const missingProgram: ProcessEnd = { cause: "not-started", startError: { code: "ENOENT", message: "" }, stderr: "" };

function startFailure(
  name: string,
  command: string,
  { startError }: ProcessEnd,
  { env, adapters }: AgentSettings,
): Failure {
  if (startError?.code === "ENOENT") {
    const installed = installedAgents(env);
    const modelFreeAdapter = adapters.find((adapter) => adapter.free === true);
    const suggestion =
      installed.length === 0
        ? `name another agent with --agent${modelFreeAdapter === undefined ? "" : `: ${modelFreeAdapter.name} needs none`}`
        : `use what is installed here: --agent ${installed.join(" or --agent ")}`;
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

/** The failure with what a person can do about it with this very agent. */
function withAdvice(
  { kind, message, ...otherFields }: Failure,
  { name: type, oldest, keyVariables = [] }: AgentDefinition,
  { name, settings, options }: AgentContext,
): Failure {
  const env = { ...settings.env, ...options.env };
  if (kind === "unusable" && oldest !== undefined && isTooOld(message))
    return {
      kind,
      message: `${message.replace(/ Update it\.$/, "")} It needs ${type} ${oldest.version} or newer: update it with \`${oldest.update}\`.`,
    };
  if (kind !== "auth" || !message.endsWith(accessAdvice)) return { kind, message, ...otherFields };
  const key = keyVariables.find((variable) => (env[variable] ?? "") !== "");
  const advice = key === undefined ? "Log in again, or set its key" : `Refused was the key in ${key}; set another`;
  return {
    kind,
    message: `${message.slice(0, -accessAdvice.length)} ${advice}; \`research-ralph doctor --probe ${shellWord(name)}\` tries it.`,
    ...otherFields,
  };
}

/** Writes or links a file, unless it is so already: several agents may start at once. */
async function prepareFile(file: PreparedFile): Promise<void> {
  await mkdir(dirname(file.path), { recursive: true });
  if ("text" in file) {
    const currentText = await readFile(file.path, "utf8").catch(() => undefined);
    if (currentText !== file.text) await writeFile(file.path, file.text);
    return;
  }
  if ((await readlink(file.path).catch(() => undefined)) === file.linkTo) return;
  // A CLI that renews its login by renaming a new file over our link leaves the only valid login here: keep it.
  const [ownFile, targetFile] = await Promise.all(
    [file.path, file.linkTo].map((path) => lstat(path).catch(() => undefined)),
  );
  if (ownFile?.isFile() === true && targetFile !== undefined && ownFile.mtimeMs > targetFile.mtimeMs) return;
  await rm(file.path, { force: true });
  await symlink(file.linkTo, file.path);
}
