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
import { canRepaint } from "../engine/ui/terminal/format.js";
import { type Io, homeOf } from "../engine/ui/io.js";
import { commandLineOf, usageSentence } from "./command-line.js";
import { isConnectionRefused, modelFetch } from "./model/fetch.js";
import { isOfficialAddress } from "./providers.js";
import type { SavedSession, SessionKind } from "./conversation/saved.js";
import {
  type SettingsRequest,
  type Settings,
  isFree,
  isLocalServer,
  missingModelText,
  notRunningText,
  placeOf,
  keyFileProblems,
  settingsFolder,
  readMcpServers,
  serviceName,
  settingsOf,
  trustFolder,
} from "./settings.js";
import type { ProgramServices, ToolContext } from "./tools/context.js";
import { createPermissionPrompt } from "./tools/permission.js";
import { plainView, quietView } from "./dialogue/plain-view.js";

/** Facts about the program. */
export interface ProgramInfo {
  readonly version: string;
  /** Every key that a configuration may have. */
  readonly keys: ConfigKeys;
  /** The commands of research-ralph. If such a word is the only word, it is not sent to the model. */
  readonly otherCommands: ReadonlySet<string>;
}

/** Functions and tools from the rest of the program; tests replace them. */
export interface ProgramEnvironment {
  /** Sends requests to model providers; absent: over the network. */
  readonly fetch?: typeof globalThis.fetch;
  /** Returns the functions and tools that other parts of the program provide. */
  readonly servicesFor: (io: Io) => ProgramServices;
}

/**
 * Runs `ralph` with these arguments. Returns the exit code: 0 with an answer, 1 without one, 2 for wrong usage, 130 or
 * 143 if interrupted, 129 if the reader of stdout is gone. Never throws for errors of the user or a service.
 */
export async function main(
  args: readonly string[],
  io: Io,
  { version, keys, otherCommands }: ProgramInfo,
  environment: ProgramEnvironment,
): Promise<number> {
  try {
    const { words, options } = commandLineOf(args, io, version);
    if (options.trust === true) {
      const trustText = `${await trustFolder(io, keys)}\n`;
      if (words.length === 0) return print(io, trustText);
      // The sentence about trust is not part of the answer.
      io.stderr(`ralph: ${trustText}`);
    }
    if (words.join(" ") === "tools") {
      const { toolListText } = await import("./tools/list.js");
      return print(io, `${toolListText(options.json === true, await environment.servicesFor(io).tools())}\n`);
    }
    if (words[0] === "memory" && options.headless !== true && options.settings !== true) {
      const { isMemoryCommand } = await import("./memory/memory-commands.js");
      // Each change of the memory is a transaction, so a signal may end the process at any time.
      if (isMemoryCommand(words)) return await runMemory(words.slice(1), io, keys, environment);
    }
    const [firstWord = ""] = words;
    if (words.length === 1 && otherCommands.has(firstWord) && !isSessionsCommand(words))
      throw new ExpectedError(
        `'${firstWord}' is a command of research-ralph; run: research-ralph ${firstWord}. To send a message to the model, write more than this word.`,
        2,
      );
    const interrupt = new AbortController();
    const signalHandlers = {
      SIGINT: () => interrupt.abort("SIGINT"),
      SIGTERM: () => interrupt.abort("SIGTERM"),
    } as const;
    const signalNames = ["SIGINT", "SIGTERM"] as const;
    for (const signalName of signalNames) io.signals.on(signalName, signalHandlers[signalName]);
    try {
      const { env, canAsk, stdin, terminal } = io;
      const settingsRequest = {
        keys,
        env,
        canAsk,
        stdin,
        terminal,
        model: options.model,
        apiUrl: options.apiUrl,
        json: options.json,
        ...limitsFrom(env),
      };
      if (options.headless === true) {
        const { headless } = await import("./headless.js");
        return await headless({
          ...settingsRequest,
          canAsk: false,
          fetch: environment.fetch,
          services: environment.servicesFor({ ...io, cwd: options.folder ?? io.cwd }),
          folder: options.folder ?? io.cwd,
          workspace: io.cwd,
          canRead: options.read === true,
          canFetch: options.web === true,
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
      if (options.settings === true)
        return await showSettings(await settingsOf({ ...settingsRequest, cwd: io.cwd }), io, environment.fetch);
      const flags = {
        isDebug: options.debug === true,
        areToolsAllowed: options.yes === true,
        continuesLast: options.continue === true,
      };
      const { signal } = interrupt;
      const start = { request: { ...settingsRequest, cwd: io.cwd }, flags, version, io, signal, environment };
      if (isSessionsCommand(words)) return await runSessions(words[1], start);
      if (words.length === 0 && canUseTerminal(io)) return await talk(start);
      return await answer(await messageFrom(words, io, signal), start);
    } catch (error) {
      if (interrupt.signal.aborted) return interruptedExitCode(interrupt.signal, io);
      throw error;
    } finally {
      for (const signalName of signalNames) io.signals.off(signalName, signalHandlers[signalName]);
    }
  } catch (error) {
    return fail(error, io);
  }
}

/** The exit code of a process that was ended by a signal, as shells define it. */
const interruptedExitCode = ({ reason }: AbortSignal, { readerGone }: Io): number =>
  reason === "SIGTERM" ? 143 : reason !== "SIGINT" && readerGone.reason === "SIGHUP" ? 129 : 130;

/** Reports an error in one sentence, never with a stack trace. Returns the exit code. */
export function fail(error: unknown, io: Io): number {
  // The user's message is private and is not part of a bug report.
  const { message, exitCode } = errorReport(error, io, { name: "ralph", args: [], usage: usageSentence });
  if (message !== undefined) io.stderr(`ralph: ${sanitise(message)}\n`);
  return exitCode;
}

/** Whether the user can type at a terminal and see the output. */
const canUseTerminal = (io: Io): boolean => io.canAsk && isTerminalOutput(io);

/** Limits that research-ralph sets for an agent that summarises. */
function limitsFrom(env: NodeJS.ProcessEnv): { maxTokens?: number; temperature?: number } {
  const readNumber = (name: string) => {
    const value = Number(env[name] ?? "");
    return (env[name] ?? "") === "" || !Number.isFinite(value) ? undefined : value;
  };
  return { maxTokens: readNumber("RESEARCH_RALPH_MAX_TOKENS"), temperature: readNumber("RESEARCH_RALPH_TEMPERATURE") };
}

function print(io: Io, text: string): number {
  io.stdout(text);
  return 0;
}

/** Reads all of stdin. Rejects if the signal is aborted, because piped input may never end. */
async function readAll({ stdin }: Io, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of addAbortSignal(signal, stdin)) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString("utf8");
}

async function messageFrom(words: readonly string[], io: Io, signal: AbortSignal): Promise<string> {
  const isPiped = (io.stdin as { isTTY?: boolean }).isTTY !== true;
  const pipedText = isPiped ? (await readAll(io, signal)).trim() : "";
  const message = [words.join(" ").trim(), pipedText].filter((part) => part !== "").join("\n\n");
  if (message === "")
    throw new ExpectedError('There is no message; give one, such as: ralph "what does EAGAIN mean?"', 2);
  return message;
}

/** The settings and the fetch function for an answer or a dialogue. */
async function prepareSettings(request: SettingsRequest, isDebug: boolean, io: Io, fetch: typeof globalThis.fetch) {
  await writeFirstConfig(io, request.keys);
  const settings = await settingsOf(request);
  if (settings.choiceText !== undefined) io.stderr(`ralph: ${settings.choiceText}\n`);
  for (const problem of await keyFileProblems(settings)) io.stderr(`ralph: ${problem}\n`);
  const redact = redactFor(io.env, { API_KEY: settings.key });
  return { settings, redact, fetch: isDebug ? withRequestLog(fetch, (text) => io.stderr(redact(text))) : fetch };
}

/** Options of the command line for an answer or a dialogue. */
interface ConversationFlags {
  readonly isDebug: boolean;
  /** Tools may write files and run commands without asking. */
  readonly areToolsAllowed: boolean;
  /** The last conversation of this folder goes on. */
  readonly continuesLast: boolean;
}

/** What an answer or a dialogue needs to start. */
interface ConversationStart {
  readonly request: SettingsRequest;
  readonly flags: ConversationFlags;
  readonly version: string;
  readonly io: Io;
  readonly signal: AbortSignal;
  readonly environment: ProgramEnvironment;
}

/** Whether the words are `sessions` or `sessions <name>`. More words are a message. */
const isSessionsCommand = (words: readonly string[]): boolean => words[0] === "sessions" && words.length <= 2;

/** Lists the conversations of this folder, or continues one of them. Without a terminal, only prints it. */
async function runSessions(name: string | undefined, start: ConversationStart): Promise<number> {
  const { io, request } = start;
  const [{ readSessions }, { sessionsTable, conversationText, findSession }] = await Promise.all([
    import("./conversation/saved.js"),
    import("./conversation/sessions-command.js"),
  ]);
  const { sessions, problems } = await readSessions(io.env, io.cwd);
  for (const problem of problems) io.stderr(`ralph: ${problem}\n`);
  if (name === undefined) return print(io, `${sessionsTable(sessions, request.json === true, io.tableWidth)}\n`);
  const savedSession = findSession(sessions, name);
  return canUseTerminal(io) ? await talk(start, savedSession) : print(io, `${conversationText(savedSession)}\n`);
}

/** The last conversation of this kind; undefined if it does not exist, or if the flags do not ask for it. */
async function findLastConversation(
  io: Io,
  { continuesLast }: ConversationFlags,
  kind: SessionKind,
): Promise<SavedSession | undefined> {
  if (!continuesLast) return undefined;
  const { readSessions } = await import("./conversation/saved.js");
  const { sessions, problems } = await readSessions(io.env, io.cwd);
  for (const problem of problems) io.stderr(`ralph: ${problem}\n`);
  const savedSession = sessions.find((session) => session.kind === kind);
  const kindText = kind === "dialogue" ? "dialogue" : "single message";
  if (savedSession === undefined)
    io.stderr(`ralph: There was no ${kindText} in this folder yet; a new conversation begins.\n`);
  return savedSession;
}

/** Reads the settings and asks for trust in the MCP servers. The returned `open` starts the conversation. */
async function prepareConversation(
  { request, flags, version, io, environment: { fetch = modelFetch(), servicesFor } }: ConversationStart,
  kind: SessionKind,
  chosenSession?: SavedSession,
) {
  const { redact, ...settingsAndFetch } = await prepareSettings(request, flags.isDebug, io, fetch);
  const serverConfig = await readMcpServers(request);
  const before = chosenSession ?? (await findLastConversation(io, flags, kind));
  const open = async (ask: ToolContext["ask"], say: (sentence: string) => void) => {
    const [{ Session }, { startServers }] = await Promise.all([import("./session.js"), import("./mcp/servers.js")]);
    const servers = startServers(serverConfig, { cwd: io.cwd, env: io.env, version, say });
    const session = new Session({
      io,
      request,
      ...settingsAndFetch,
      services: servicesFor(io),
      servers,
      ask,
      say,
      kind,
      savedSession: before,
    });
    return { servers, session };
  };
  return { redact, settings: settingsAndFetch.settings, open, before };
}

async function answer(message: string, start: ConversationStart): Promise<number> {
  const { request, flags, io, signal } = start;
  const { redact, open } = await prepareConversation(start, "message");
  const say = (sentence: string) => io.stderr(`ralph: ${redact(sentence)}\n`);
  const { session, servers } = await open(createPermissionPrompt(io, flags.areToolsAllowed, signal), say);
  // The model knows only the tools that are ready before the first request.
  await Promise.race([servers.firstTries, untilAborted(signal)]);
  const isJson = request.json === true;
  const view = isJson ? quietView(io) : isTerminalOutput(io) ? await createTerminalView(io) : plainView(io);
  try {
    const stopSignal = AbortSignal.any([signal, io.readerGone]);
    const result = await session.answer(message, stopSignal, view.tell);
    view.end();
    await session.save();
    if (isJson && !("failure" in result)) {
      const value = jsonOf(result.message);
      if (value !== undefined) return print(io, `${value}\n`);
      say(`The answer is not JSON, but begins with: ${oneLine(result.message).slice(0, 100)}`);
      return 1;
    }
    if (!("failure" in result)) return print(io, isTerminalOutput(io) || result.message.endsWith("\n") ? "" : "\n");
    if (result.failure.kind === "aborted") return interruptedExitCode(signal, io);
    view.beforeError();
    const { failureText } = await import("./converse.js");
    say(failureText(result.failure, io.clock.now()));
    return 1;
  } finally {
    view.end();
    await session.close();
  }
}

/** Whether stdout and stderr are a terminal. */
const isTerminalOutput = (io: Io): boolean => canRepaint(io) && io.isShown;

async function createTerminalView(io: Io) {
  const [{ answerView }, { createColors }] = await Promise.all([
    import("./dialogue/answer-view.js"),
    import("picocolors"),
  ]);
  return { ...answerView(io, createColors(io.color)), beforeError: () => undefined };
}

/** The JSON of an answer, also if it is in a code fence; undefined if the answer is not JSON. */
function jsonOf(text: string): string | undefined {
  const json = text.trim().replace(/^```(?:json)?\n|\n?```$/g, "");
  return jsonIn(json) === undefined ? undefined : json;
}

const untilAborted = async (signal: AbortSignal): Promise<void> =>
  await new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** Runs a dialogue. To show the prompt soon, only readline and the settings are loaded before it. */
async function talk(start: ConversationStart, chosenSession?: SavedSession): Promise<number> {
  const { flags, version, io, signal } = start;
  const { redact, settings, before: savedSession, open } = await prepareConversation(start, "dialogue", chosenSession);
  const { dialogue } = await import("./dialogue/dialogue.js");
  const continuationText =
    savedSession === undefined ? "" : ` · going on with ${savedSession.messages.length} messages`;
  return await dialogue({
    io,
    greeting: `ralph ${version} · ${settings.model} of ${serviceName(settings)}${continuationText} · /help lists the commands`,
    redact,
    signal,
    async open({ ask, say }) {
      const conversation = await open(flags.areToolsAllowed ? async () => "yes" : ask, say);
      // An error is not lost: it occurs again with the first message, and is reported then.
      void conversation.session.warmUp().catch(() => undefined);
      return conversation;
    },
  });
}

/** Prints the settings. Throws ExpectedError if the local server does not run, or does not have the model. */
async function showSettings(settings: Settings, io: Io, fetch = modelFetch()): Promise<number> {
  // A local server decides which model is used, so without it the model is not known.
  if (isLocalServer(settings.url) && (await isConnectionRefused(settings.url, fetch)))
    throw new ExpectedError(notRunningText(settings));
  const missing = await missingModelText(settings, fetch);
  if (missing !== undefined) throw new ExpectedError(missing);
  const text = settingsText(settings);
  const facts = { text, free: isFree(settings), place: placeOf(settings) };
  print(io, `${settings.json === true ? JSON.stringify(facts) : text}\n`);
  return 0;
}

/** The provider, the model and the source of the key, as a sentence without the key. */
function settingsText(settings: Settings): string {
  const { provider, url, model, keySource, window, isWindowKnown, choiceText } = settings;
  const serviceText = isOfficialAddress(provider, url)
    ? provider.title
    : `the ${isLocalServer(url) ? "local " : ""}server${isFree(settings) ? ", without charge," : ""} at ${url.origin}${url.pathname}`;
  const keyText = keySource === undefined ? "without a key" : `with the key in ${keySource}`;
  return `Asks ${model} of ${serviceText} ${keyText}; window ${window} tokens${isWindowKnown ? "" : " (the default: set context_window)"}.${choiceText === undefined ? "" : ` ${choiceText}`}`;
}

async function runMemory(
  words: readonly string[],
  io: Io,
  keys: ConfigKeys,
  { fetch = modelFetch() }: ProgramEnvironment,
): Promise<number> {
  const [{ runMemoryCommand }, { openUserMemory }] = await Promise.all([
    import("./memory/memory-commands.js"),
    import("./memory/own-memory.js"),
  ]);
  const memory = await openUserMemory(io, keys, fetch);
  if (typeof memory === "string") throw new ExpectedError(memory);
  try {
    const { text, failed } = await runMemoryCommand(memory, words);
    (failed === true ? io.stderr : io.stdout)(`${failed === true ? "ralph: " : ""}${text}\n`);
    return failed === true ? 1 : 0;
  } finally {
    await memory.close();
  }
}

/** At the first start, writes a settings file that only the user can read. */
async function writeFirstConfig(io: Io, keys: ConfigKeys): Promise<void> {
  const files = userFiles(homeOf(io.env));
  if ((await readConfigFile(keys, files)) !== undefined) return;
  const [path] = files;
  // The file names no provider. So the provider follows from the keys or the local server, even if they are set later.
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
    makeFolder(settingsFolder(io.env), 0o700);
    await writeFileAtomic(path, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
    io.stderr(`ralph: The settings of ralph are in ${path}.\n`);
  } catch (error) {
    io.stderr(`ralph: ${path} could not be written (${messageOf(error)}); the default settings apply.\n`);
  }
}

/** Writes the address and the body of each request, but not its headers, because they contain the key. */
const withRequestLog =
  (fetch: typeof globalThis.fetch, write: (text: string) => void): typeof globalThis.fetch =>
  async (input, init) => {
    const address = new URL(input instanceof Request ? input.url : input);
    write(`→ ${init?.method ?? "GET"} ${address.origin}${address.pathname}\n${String(init?.body ?? "")}\n`);
    const response = await fetch(input, init);
    write(`← ${response.status} ${response.statusText}\n`);
    return response;
  };
