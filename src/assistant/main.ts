import { addAbortSignal } from "node:stream";
import { jsonIn } from "../engine/lib/json-fields.js";
import { readConfigFile, userFiles } from "../engine/config/config-file.js";
import type { ConfigKeys } from "../engine/config/keys.js";
import { ExpectedError, messageOf } from "../engine/lib/errors.js";
import { redactFor } from "../engine/lib/redact.js";
import { oneLine, sanitise } from "../engine/lib/sanitise.js";
import { writeFileAtomic } from "../engine/storage/atomic-file.js";
import { makeFolder } from "../engine/storage/regular-file.js";
import { schemaAddress } from "../engine/storage/schema-check.js";
import { errorReport } from "../engine/ui/command-line.js";
import { type Io, homeOf } from "../engine/ui/io.js";
import { commandLineOf, usageSentence } from "./command-line.js";
import { modelFetch } from "./model/fetch.js";
import { isMakers } from "./providers.js";
import type { SavedSession, SessionKind } from "./conversation/saved.js";
import {
  type Asked,
  type Settings,
  isOwnOllama,
  keyFileProblems,
  ownFolder,
  ownServers,
  serviceName,
  settingsOf,
  trustFolder,
} from "./settings.js";
import type { Handed, ToolContext } from "./tools/context.js";
import { permissionFrom } from "./tools/permission.js";
import { plainView, quietView } from "./dialogue/plain-view.js";

/** What the program is. */
export interface Program {
  readonly version: string;
  /** Every key that a configuration may have. */
  readonly keys: ConfigKeys;
  /** The commands of research-ralph: one of them alone is not meant for a model. */
  readonly otherCommands: ReadonlySet<string>;
}

/** What the program hands over. */
export interface Outside {
  /** Asks model providers; absent: by the network. */
  readonly fetch?: typeof globalThis.fetch;
  /** What the assistant has of the other wings. */
  readonly handed: (io: Io) => Handed;
}

/**
 * Runs `ralph` with these arguments; returns the exit code: 0 with an answer, 1 without one, 2 for wrong usage,
 * 130 or 143 when interrupted, 129 when the reader of stdout has gone. Never throws for what a person or a service does
 * wrong.
 */
export async function main(
  args: readonly string[],
  io: Io,
  { version, keys, otherCommands }: Program,
  outside: Outside,
): Promise<number> {
  try {
    const { words, options } = commandLineOf(args, io, version);
    if (options.trust === true) {
      const trusted = `${await trustFolder(io, keys)}\n`;
      if (words.length === 0) return print(io, trusted);
      // It is not part of the answer.
      io.stderr(`ralph: ${trusted}`);
    }
    if (words.join(" ") === "tools") {
      const { listed } = await import("./tools/list.js");
      return print(io, `${listed(options.json === true, await outside.handed(io).tools())}\n`);
    }
    if (words[0] === "memory" && options.headless !== true && options.settings !== true) {
      const { isMemoryCommand } = await import("./memory/memory-commands.js");
      // Each change of the memory is a transaction, so a signal may end this at once, as it ends any program.
      if (isMemoryCommand(words)) return await onMemory(words.slice(1), io, keys, outside);
    }
    const [word = ""] = words;
    if (words.length === 1 && otherCommands.has(word) && !isSessionsCommand(words))
      throw new ExpectedError(
        `'${word}' is a command of research-ralph: research-ralph ${word}. A message for the model has more words.`,
        2,
      );
    const interrupt = new AbortController();
    const onSignals = { SIGINT: () => interrupt.abort("SIGINT"), SIGTERM: () => interrupt.abort("SIGTERM") } as const;
    const names = ["SIGINT", "SIGTERM"] as const;
    for (const name of names) io.signals.on(name, onSignals[name]);
    try {
      const { env, canAsk, stdin, terminal } = io;
      const asked = {
        keys,
        env,
        canAsk,
        stdin,
        terminal,
        model: options.model,
        apiUrl: options.apiUrl,
        json: options.json,
        ...limitsIn(env),
      };
      if (options.headless === true) {
        const { headless } = await import("./headless.js");
        return await headless({
          ...asked,
          canAsk: false,
          fetch: outside.fetch,
          handed: outside.handed({ ...io, cwd: options.folder ?? io.cwd }),
          folder: options.folder ?? io.cwd,
          workspace: io.cwd,
          reads: options.read === true,
          web: options.web === true,
          toolbox: options.toolbox,
          toolSocket: options.toolSocket,
          ...(options.work === true ? { exec: io.runProgram } : {}),
          version,
          brief: await readAll(io, interrupt.signal),
          clock: io.clock,
          signal: interrupt.signal,
          write: (line) => io.stdout(`${JSON.stringify(line)}\n`),
        });
      }
      if (options.settings === true) return print(io, `${described(await settingsOf({ ...asked, cwd: io.cwd }))}\n`);
      const flags = {
        isDebug: options.debug === true,
        isAllowed: options.yes === true,
        goesOn: options.continue === true,
      };
      const { signal } = interrupt;
      const started = { asked: { ...asked, cwd: io.cwd }, flags, version, io, signal, outside };
      if (isSessionsCommand(words)) return await onSessions(words[1], started);
      if (words.length === 0 && canTalk(io)) return await talk(started);
      return await answer(await messageFrom(words, io, signal), started);
    } catch (error) {
      if (interrupt.signal.aborted) return interrupted(interrupt.signal, io);
      throw error;
    } finally {
      for (const name of names) io.signals.off(name, onSignals[name]);
    }
  } catch (error) {
    return fail(error, io);
  }
}

/** The exit code of what was ended from outside, as shells count it. */
const interrupted = ({ reason }: AbortSignal, { readerGone }: Io): number =>
  reason === "SIGTERM" ? 143 : reason !== "SIGINT" && readerGone.reason === "SIGHUP" ? 129 : 130;

/** Says what went wrong in one sentence, never with a stack trace; answers with the exit code. */
export function fail(error: unknown, io: Io): number {
  // What was asked is the user's own, and stays out of a report.
  const { message, exitCode } = errorReport(error, io, { name: "ralph", args: [], usage: usageSentence });
  if (message !== undefined) io.stderr(`ralph: ${sanitise(message)}\n`);
  return exitCode;
}

/** Whether a person sits at a terminal that shows what is printed. */
const canTalk = (io: Io): boolean => io.canAsk && canShow(io);

/** What research-ralph asks of an agent that summarises. */
function limitsIn(env: NodeJS.ProcessEnv): { maxTokens?: number; temperature?: number } {
  const number = (name: string) => {
    const value = Number(env[name] ?? "");
    return (env[name] ?? "") === "" || !Number.isFinite(value) ? undefined : value;
  };
  return { maxTokens: number("RESEARCH_RALPH_MAX_TOKENS"), temperature: number("RESEARCH_RALPH_TEMPERATURE") };
}

function print(io: Io, text: string): number {
  io.stdout(text);
  return 0;
}

/** All of stdin. Rejects when the signal is aborted: what is piped in may never end. */
async function readAll({ stdin }: Io, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of addAbortSignal(signal, stdin)) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString("utf8");
}

async function messageFrom(words: readonly string[], io: Io, signal: AbortSignal): Promise<string> {
  const isPiped = (io.stdin as { isTTY?: boolean }).isTTY !== true;
  const piped = isPiped ? (await readAll(io, signal)).trim() : "";
  const message = [words.join(" ").trim(), piped].filter((part) => part !== "").join("\n\n");
  if (message === "")
    throw new ExpectedError('There is no message; give one, such as: ralph "what does EAGAIN mean?"', 2);
  return message;
}

/** What an answer or a dialogue is begun with, as far as it needs no model. */
async function prepared(asked: Asked, isDebug: boolean, io: Io, fetch: typeof globalThis.fetch) {
  await writeFirstConfig(io, asked.keys);
  const settings = await settingsOf(asked);
  if (settings.chosen !== undefined) io.stderr(`ralph: ${settings.chosen}\n`);
  for (const problem of await keyFileProblems(settings)) io.stderr(`ralph: ${problem}\n`);
  const redact = redactFor(io.env, { API_KEY: settings.key });
  return { settings, redact, fetch: isDebug ? debugging(fetch, (text) => io.stderr(redact(text))) : fetch };
}

/** What the command line says of one answer or dialogue. */
interface Flags {
  readonly isDebug: boolean;
  /** Tools may write and run without a question. */
  readonly isAllowed: boolean;
  /** The last conversation of this folder goes on. */
  readonly goesOn: boolean;
}

/** What an answer or a dialogue is started with. */
interface Started {
  readonly asked: Asked;
  readonly flags: Flags;
  readonly version: string;
  readonly io: Io;
  readonly signal: AbortSignal;
  readonly outside: Outside;
}

/** `ralph sessions` and `ralph sessions <name>`; more words are a message. */
const isSessionsCommand = (words: readonly string[]): boolean => words[0] === "sessions" && words.length <= 2;

/** Lists the conversations of this folder, or goes on with one; off a terminal it is printed. */
async function onSessions(name: string | undefined, started: Started): Promise<number> {
  const { io, asked } = started;
  const [{ sessionsOf }, { listedSessions, readable, sessionNamed }] = await Promise.all([
    import("./conversation/saved.js"),
    import("./conversation/sessions-command.js"),
  ]);
  const { sessions, problems } = await sessionsOf(io.env, io.cwd);
  for (const problem of problems) io.stderr(`ralph: ${problem}\n`);
  if (name === undefined) return print(io, `${listedSessions(sessions, asked.json === true, io.tableWidth)}\n`);
  const before = sessionNamed(sessions, name);
  return canTalk(io) ? await talk(started, before) : print(io, `${readable(before)}\n`);
}

/** The last conversation of this kind, if it is to go on and there is one. */
async function conversationBefore(io: Io, { goesOn }: Flags, kind: SessionKind): Promise<SavedSession | undefined> {
  if (!goesOn) return undefined;
  const { sessionsOf } = await import("./conversation/saved.js");
  const { sessions, problems } = await sessionsOf(io.env, io.cwd);
  for (const problem of problems) io.stderr(`ralph: ${problem}\n`);
  const before = sessions.find((each) => each.kind === kind);
  const what = kind === "dialogue" ? "dialogue" : "single message";
  if (before === undefined) io.stderr(`ralph: There was no ${what} in this folder yet; a new conversation begins.\n`);
  return before;
}

/** A conversation that is ready to be opened: its settings are read, and a person has agreed to its servers. */
async function begun(
  { asked, flags, version, io, outside: { fetch = modelFetch(), handed } }: Started,
  kind: SessionKind,
  named?: SavedSession,
) {
  const { redact, ...ready } = await prepared(asked, flags.isDebug, io, fetch);
  const written = await ownServers(asked);
  const before = named ?? (await conversationBefore(io, flags, kind));
  const open = async (ask: ToolContext["ask"], say: (sentence: string) => void) => {
    const [{ Session }, { startServers }] = await Promise.all([import("./session.js"), import("./mcp/servers.js")]);
    const servers = startServers(written, { cwd: io.cwd, env: io.env, version, say });
    const session = new Session({ io, asked, ...ready, handed: handed(io), servers, ask, say, kind, before });
    return { servers, session };
  };
  return { redact, settings: ready.settings, open, before };
}

async function answer(message: string, started: Started): Promise<number> {
  const { asked, flags, io, signal } = started;
  const { redact, open } = await begun(started, "message");
  const say = (sentence: string) => io.stderr(`ralph: ${redact(sentence)}\n`);
  const { session, servers } = await open(permissionFrom(io, flags.isAllowed, signal), say);
  // Its tools are of use only if they are there with the first request.
  await Promise.race([servers.settled, aborted(signal)]);
  const isJson = asked.json === true;
  const view = isJson ? quietView(io) : canShow(io) ? await viewOn(io) : plainView(io);
  try {
    const stop = AbortSignal.any([signal, io.readerGone]);
    const spoken = await session.answer(message, stop, view.tell);
    view.end();
    await session.save();
    if (isJson && !("failure" in spoken)) {
      const value = bareJson(spoken.message);
      if (value !== undefined) return print(io, `${value}\n`);
      say(`The answer is not JSON, but begins with: ${oneLine(spoken.message).slice(0, 100)}`);
      return 1;
    }
    if (!("failure" in spoken)) return print(io, canShow(io) || spoken.message.endsWith("\n") ? "" : "\n");
    if (spoken.failure.kind === "aborted") return interrupted(signal, io);
    view.broke();
    const { toldFailure } = await import("./converse.js");
    say(toldFailure(spoken.failure, io.clock.now()));
    return 1;
  } finally {
    view.end();
    await session.close();
  }
}

/** Whether stdout and stderr are a terminal. */
const canShow = (io: Io): boolean => io.isTTY && Number.isFinite(io.tableWidth);

async function viewOn(io: Io) {
  const [{ answerView }, { createColors }] = await Promise.all([
    import("./dialogue/answer-view.js"),
    import("picocolors"),
  ]);
  return { ...answerView(io, createColors(io.color)), broke: () => undefined };
}

/** The JSON of an answer, also where it stands in a fence; undefined where it is not. */
function bareJson(text: string): string | undefined {
  const bare = text.trim().replace(/^```(?:json)?\n|\n?```$/g, "");
  return jsonIn(bare) === undefined ? undefined : bare;
}

const aborted = async (signal: AbortSignal): Promise<void> =>
  await new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** A dialogue. Until its prompt stands, nothing is loaded but readline and the settings. */
async function talk(started: Started, named?: SavedSession): Promise<number> {
  const { flags, version, io, signal } = started;
  const { redact, settings, before, open } = await begun(started, "dialogue", named);
  const { dialogue } = await import("./dialogue/dialogue.js");
  const goesOn = before === undefined ? "" : ` · going on with ${before.messages.length} messages`;
  return await dialogue({
    io,
    greeting: `ralph ${version} · ${settings.model} of ${serviceName(settings)}${goesOn} · /help lists the commands`,
    redact,
    signal,
    async open({ ask, say }) {
      const opened = await open(flags.isAllowed ? async () => "yes" : ask, say);
      // What fails here fails again, and is told, with the first message.
      void opened.session.warmUp().catch(() => undefined);
      return opened;
    },
  });
}

/** Provider, model and where the key is from, as one sentence without the key. */
function described({ provider, url, model, keyFrom, window, isWindowKnown, chosen }: Settings): string {
  const where = isMakers(provider, url)
    ? provider.title
    : `${isOwnOllama(url) ? "your own Ollama, without charge," : "the server"} at ${url.origin}${url.pathname}`;
  const key = keyFrom === undefined ? "without a key" : `with the key in ${keyFrom}`;
  return `Asks ${model} of ${where} ${key}; window ${window} tokens${isWindowKnown ? "" : " (the default: set context_window)"}.${chosen === undefined ? "" : ` ${chosen}`}`;
}

async function onMemory(
  words: readonly string[],
  io: Io,
  keys: ConfigKeys,
  { fetch = modelFetch() }: Outside,
): Promise<number> {
  const [{ memoryCommand }, { openOwnMemory }] = await Promise.all([
    import("./memory/memory-commands.js"),
    import("./memory/own-memory.js"),
  ]);
  const memory = await openOwnMemory(io, keys, fetch);
  if (typeof memory === "string") throw new ExpectedError(memory);
  try {
    const { text, failed } = await memoryCommand(memory, words);
    (failed === true ? io.stderr : io.stdout)(`${failed === true ? "ralph: " : ""}${text}\n`);
    return failed === true ? 1 : 0;
  } finally {
    await memory.close();
  }
}

/** The first start leaves a file to edit, for its user alone. */
async function writeFirstConfig(io: Io, keys: ConfigKeys): Promise<void> {
  const home = homeOf(io.env);
  const [path = ""] = userFiles(home).filter((file) => file.endsWith(".json"));
  if ((await readConfigFile(keys, userFiles(home))) !== undefined) return;
  // Nothing is chosen: the key or the local server that is there decides, also one that is set later.
  const settings = {
    $schema: schemaAddress("config"),
    api_url: "",
    model: "",
    anthropic_api_key: "",
    openai_api_key: "",
    openai_api_url: "",
    embedding_api_url: "",
    embedding_model: "",
    system_prompt: "",
    context_window: -1,
    max_tokens: -1,
    mcpServers: {},
  };
  try {
    makeFolder(ownFolder(io.env), 0o700);
    await writeFileAtomic(path, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
    io.stderr(`ralph: The settings of ralph are in ${path}.\n`);
  } catch (error) {
    io.stderr(`ralph: ${path} could not be written (${messageOf(error)}); the default settings apply.\n`);
  }
}

/** Tells of each request: its address and its body, never its headers, which hold the key. */
const debugging =
  (fetch: typeof globalThis.fetch, say: (text: string) => void): typeof globalThis.fetch =>
  async (input, init) => {
    const address = new URL(input instanceof Request ? input.url : input);
    say(`→ ${init?.method ?? "GET"} ${address.origin}${address.pathname}\n${String(init?.body ?? "")}\n`);
    const response = await fetch(input, init);
    say(`← ${response.status} ${response.statusText}\n`);
    return response;
  };
