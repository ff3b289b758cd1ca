import { shellWord } from "../lib/sanitise.js";
import { lstat, mkdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { timeIsUp, spanInWords } from "../lib/clock.js";
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
import { briefInside, startOf } from "./in-sandbox.js";
import { priced } from "./prices.js";
import { withoutUndefined } from "../lib/without-undefined.js";

/** Most bytes of a brief: Codex and Amp take no more on stdin. */
export const maxBriefBytes = 1_048_576;

/** An agent that starts the definition's command afresh for every brief. */
export function agentFrom(definition: AgentDefinition, context: AgentContext): Agent {
  const { name, settings } = context;
  const redact = redactFor(settings.env, { ...context.options.env }, ...settings.secrets);
  const held = settings.sandbox === undefined ? ownConfinement(definition, settings) : "sandbox";
  const confinement = settings.classic ? "unconfined" : held;
  const version = askedOnce(definition, context);
  return {
    name,
    confinement,
    ...(definition.free === true ? { free: true as const } : {}),
    // In classic mode the agent works with what its user gave it.
    ...(takesTools(definition, settings) ? { takesTools: true as const } : {}),
    ...(definition.takesTemperature === true ? { takesTemperature: true as const } : {}),
    async *run(brief, { signal, maxUsd, maxMs }): AsyncGenerator<AgentEvent> {
      const invocation = commandFor(definition, briefInside(brief, context), context, maxUsd);
      if (isFailure(invocation)) return yield failed(invocation);
      try {
        for (const file of invocation.files ?? []) await prepare(file);
      } catch (error) {
        return yield failed({
          kind: "crashed",
          message: `${name} could not be started, because a file it needs could not be written: ${messageOf(error)}.`,
        });
      }

      const start = startOf(definition, context, brief, invocation);
      if (start === undefined) return yield failed(notStarted(name, invocation.command, notThere, settings));
      const reader = definition.reader();
      // A timer takes 0 for none.
      const timeoutMs = Math.max(1, Math.min(settings.iterationMs, maxMs ?? Infinity));
      const transcript = settings.transcript(brief.iteration);
      if (transcript !== undefined) keepBrief(transcript, redact(brief.text));
      const asked = version.ask();
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
            yield withWhatIsKnown(event, reader, definition, context, version.known());
        }
      } finally {
        asked.stop();
        await lines.return({ cause: "aborted", stderr: "" });
      }
      for (const message of end.notices ?? []) yield { type: "notice", message };
      if (end.transcriptProblem !== undefined) yield { type: "notice", message: end.transcriptProblem };
      const limits = { timeoutMs, why: signal.reason as unknown };
      const { failure: found, ...ended } = judge(end, reader, invocation, context, limits);
      const failure = found && withAdvice(found, definition, context);
      // It quotes stderr, and goes into the ledger.
      yield failure === undefined ? ended : { ...ended, failure: { ...failure, message: redact(failure.message) } };
    },
  };
}

const takesTools = ({ takesTools: takes }: AgentDefinition, { classic }: AgentSettings): boolean =>
  !classic && takes === true;

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
function askedOnce(definition: AgentDefinition, context: AgentContext) {
  let [isAsked, known]: [boolean, string | undefined] = [false, undefined];
  return {
    known: () => known,
    /** `stop` ends a program that is still thinking about it. */
    ask() {
      const given = new AbortController();
      const stop = () => given.abort();
      if (isAsked || definition.version === undefined) return { stop };
      isAsked = true;
      definition.version(context, given.signal).then(
        (said) => void (known = said),
        () => undefined,
      );
      return { stop };
    },
  };
}

/** An event of usage with its price, how it is paid for, its program's version, and whether it is the last. */
function withWhatIsKnown(
  event: AgentEvent,
  reader: Reader,
  definition: AgentDefinition,
  context: AgentContext,
  version: string | undefined,
): AgentEvent {
  const known = priced(event, definition.modelOf === undefined ? context.options.model : definition.modelOf(context));
  if (known.type !== "usage") return known;
  const billing = known.billing ?? definition.billing?.(context);
  const more = withoutUndefined({ billing, version: known.version ?? version });
  return { ...known, ...more, ...(reader.finished() ? { final: true } : {}) };
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
function judge(
  end: ProcessEnd,
  reader: Reader,
  { command }: Invocation,
  { name, settings }: AgentContext,
  { timeoutMs, why }: Limits,
): AgentEnd {
  switch (end.cause) {
    case "timeout":
      return failedAs("timeout", `${name} was ended because it took longer than ${spanInWords(timeoutMs)}.`);
    case "idle": {
      const why = limitIn(end.stderr, name);
      if (why !== undefined) return failed(why);
      return failedAs("idle", `${name} was ended because it printed nothing for ${spanInWords(settings.idleMs)}.`);
    }
    case "resources":
      return failedAs(
        "resources",
        `${name} was ended because it used too much: ${end.resource ?? "a limit was exceeded"}.`,
      );
    case "aborted":
      return failedAs(
        "aborted",
        `${name} was ended because ${why === timeIsUp ? "the time of this run was up" : "the run was interrupted"}.`,
      );
    case "not-started":
      return failed(notStarted(name, command, end, settings));
  }
  const { message, failure } = reader.answer();
  if (failure !== undefined) return failed(failure);
  const fine = end.cause === "settled" || end.exitCode === 0;
  if (fine && message !== undefined) return { type: "end", message };

  const printed = fine ? "" : (reader.lastLine?.() ?? "");
  const recognised = recogniseFailure(end.stderr, name, Date.now()) ?? limitIn(printed, name);
  if (recognised !== undefined) return failed(recognised);
  const last = quote(end.stderr) || quote(printed);
  // A shell's words for a program that is not there or not executable; trying again would not change it.
  if (command === "sh" && (end.exitCode === 127 || end.exitCode === 126)) {
    const why = last === "" ? `its shell ended with exit code ${end.exitCode}` : last;
    return failedAs(
      "missing",
      `${name} can't be started: ${why}. Correct the command, or name another agent with --agent.`,
    );
  }
  const said = last === "" ? "" : `; it said: ${last}`;
  if (fine) return failedAs("no-answer", `${name} ended without an answer${said}.`);
  const how = end.signal === undefined ? `with exit code ${end.exitCode}` : `by ${end.signal}`;
  return failedAs("crashed", `${name} ended ${how}${said}.`);
}

/** A limit that a program told in what it printed. Of anything else that stands there the loop makes nothing. */
function limitIn(printed: string, name: string): Failure | undefined {
  const found = recogniseFailure(printed, name, Date.now());
  return found?.kind === "rate-limit" ? found : undefined;
}

const notThere: ProcessEnd = { cause: "not-started", startError: { code: "ENOENT", message: "" }, stderr: "" };

function notStarted(
  name: string,
  command: string,
  { startError }: ProcessEnd,
  { env, adapters }: AgentSettings,
): Failure {
  if (startError?.code === "ENOENT") {
    const there = installedAgents(env);
    const free = adapters.find((adapter) => adapter.free === true);
    const other =
      there.length === 0
        ? `name another agent with --agent${free === undefined ? "" : `: ${free.name} needs none`}`
        : `use what is installed here: --agent ${there.join(" or --agent ")}`;
    return {
      kind: "missing",
      message: `${name} can't be started, because there is no program ${command}; install it ('research-ralph doctor' says how), or ${other}.`,
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

const failed = (failure: Failure): AgentEnd => ({ type: "end", message: "", failure });
const failedAs = (kind: Failure["kind"], message: string): AgentEnd => failed({ kind, message });

/** The failure with what a person can do about it with this very agent. */
function withAdvice(
  { kind, message, ...rest }: Failure,
  { name: type, oldest, keyVariables = [] }: AgentDefinition,
  { name, settings, options }: AgentContext,
): Failure {
  const env = { ...settings.env, ...options.env };
  if (kind === "unusable" && oldest !== undefined && isTooOld(message))
    return {
      kind,
      message: `${message.replace(/ Update it\.$/, "")} It needs ${type} ${oldest.version} or newer: update it with \`${oldest.update}\`.`,
    };
  if (kind !== "auth" || !message.endsWith(accessAdvice)) return { kind, message, ...rest };
  const key = keyVariables.find((variable) => (env[variable] ?? "") !== "");
  const what = key === undefined ? "Log in again, or set its key" : `Refused was the key in ${key}; set another`;
  return {
    kind,
    message: `${message.slice(0, -accessAdvice.length)} ${what}; \`research-ralph doctor --probe ${shellWord(name)}\` tries it.`,
    ...rest,
  };
}

/** Writes or links a file, unless it is so already: several agents may start at once. */
async function prepare(file: PreparedFile): Promise<void> {
  await mkdir(dirname(file.path), { recursive: true });
  if ("text" in file) {
    const now = await readFile(file.path, "utf8").catch(() => undefined);
    if (now !== file.text) await writeFile(file.path, file.text);
    return;
  }
  if ((await readlink(file.path).catch(() => undefined)) === file.linkTo) return;
  // A CLI that renews its login by renaming a new file over our link leaves the only valid login here: keep it.
  const [ours, theirs] = await Promise.all([file.path, file.linkTo].map((path) => lstat(path).catch(() => undefined)));
  if (ours?.isFile() === true && theirs !== undefined && ours.mtimeMs > theirs.mtimeMs) return;
  await rm(file.path, { force: true });
  await symlink(file.linkTo, file.path);
}
