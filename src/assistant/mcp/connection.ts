import { type ChildProcessByStdio, spawn } from "node:child_process";
import { type EventEmitter, once } from "node:events";
import { createConnection, type Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, Transport } from "@modelcontextprotocol/client";
import { hasCode, messageOf } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { killGroupOnExit, hookMarkVariable, markVariable, sendSignal } from "../../engine/process/descendants.js";
import type { ServerSettings } from "./server-settings.js";

/** A server's description of its tool. */
export interface ServerTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly parameters: object;
  /** The server says that the tool changes nothing. */
  readonly isReadOnly: boolean;
}

/** The result of a call as text. `failed`: the tool reports an error. */
export interface CallResult {
  readonly text: string;
  readonly failed: boolean;
}

/** A connection to a server. */
export interface Connection {
  readonly tools: readonly ServerTool[];
  /** False if the server has ended, or if the last call did not reach it. */
  isOpen(): boolean;
  /** Rejects with NotReached if the call did not arrive, else with the error. */
  call(tool: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<CallResult>;
  close(): Promise<void>;
}

/** A call that certainly did not arrive, so it can be repeated. */
export class NotReached extends Error {}

/** Maximum milliseconds of a call. */
const callTimeoutMs = 300_000;
/** Maximum characters of a result: more would fill the context window of any model. */
const maxCharacters = 100_000;

/**
 * Starts a server or connects to it, and reads its list of tools. Rejects with a sentence if that fails, takes longer
 * than `ms` milliseconds or is aborted. A program gets only PATH, HOME, the variables of its settings, and the marks by
 * which a run finds processes that its agents started.
 */
export async function connect(
  { name, transport: transportSettings }: ServerSettings,
  {
    cwd,
    env,
    version,
    ms,
    stopSignal,
  }: { cwd: string; env: NodeJS.ProcessEnv; version: string; ms: number; stopSignal?: AbortSignal },
): Promise<Connection> {
  const { Client } = await import("@modelcontextprotocol/client");
  const client = new Client({ name: "ralph", version });
  let isOpen = true;
  let lastOutputLine = "";
  const { transport, stop } = await transportFor(transportSettings, {
    cwd,
    env,
    onOutput: (text) => (lastOutputLine = text),
  });
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client is not an event target
  client.onclose = () => (isOpen = false);
  const close = async () => {
    isOpen = false;
    stop();
    await client.close().catch(() => undefined);
  };
  try {
    const tools = await runWithTimeout(ms, stopSignal, async () => {
      stopSignal?.throwIfAborted();
      await client.connect(transport as Transport, { timeout: ms });
      return await toolsOf(client, ms);
    });
    return {
      tools,
      isOpen: () => isOpen,
      async call(tool, args, signal) {
        try {
          return await callTool(client, tool, args, signal);
        } catch (error) {
          if (isConnectionLost(error)) isOpen = false;
          if (hasNotArrived(error)) throw new NotReached(messageOf(error));
          throw error;
        }
      },
      close,
    };
  } catch (error) {
    await close();
    throw new Error(`The MCP server ${name} ${connectionProblem(error, ms, transportSettings.by, lastOutputLine)}.`, {
      cause: error,
    });
  }
}

/** Creates the transport to a server, and a function that closes its connections without waiting. */
async function transportFor(
  reached: ServerSettings["transport"],
  { cwd, env, onOutput }: { cwd: string; env: NodeJS.ProcessEnv; onOutput: (text: string) => void },
): Promise<{ transport: unknown; stop: () => void }> {
  if (reached.by === "stdio")
    return { transport: await programTransport(reached, { cwd, env, onOutput }), stop: () => undefined };
  if (reached.by === "socket") return { transport: await socketTransport(reached.path), stop: () => undefined };
  const { SSEClientTransport, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { EnvHttpProxyAgent, fetch } = await import("undici");
  // A stream of events may be silent for hours.
  const dispatcher = new EnvHttpProxyAgent({ headersTimeout: 0, bodyTimeout: 0 });
  const options = {
    fetch: (async (url: string | URL, init: object = {}) =>
      await fetch(url, { ...init, dispatcher })) as unknown as typeof globalThis.fetch,
    requestInit: { headers: { ...reached.headers } },
  };
  const Kind = reached.by === "sse" ? SSEClientTransport : StreamableHTTPClientTransport;
  return { transport: new Kind(reached.url, options), stop: () => void dispatcher.close().catch(() => undefined) };
}

/** Starts a server in its own process group, because a shell or npx is often between it and this process. */
async function programTransport(
  { command, args, env: serverEnv }: Extract<ServerSettings["transport"], { by: "stdio" }>,
  { cwd, env, onOutput }: { cwd: string; env: NodeJS.ProcessEnv; onOutput: (text: string) => void },
): Promise<Transport> {
  const isWindows = process.platform === "win32";
  const environment = await environmentFor(serverEnv, env);
  let child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  /** The process or process group that gets signals; undefined if it does not run. */
  let target: number | undefined;
  let release = (): void => undefined;
  const forgetProgram = (): void => {
    target = undefined;
    release();
  };
  const signalProgram = (name: NodeJS.Signals | 0): boolean => target !== undefined && sendSignal(target, name);
  const openPipes = async (): Promise<Pipes> => {
    const program = spawn(command, args, { cwd, env: environment, detached: !isWindows, windowsHide: true });
    child = program;
    if (program.pid !== undefined) {
      target = isWindows ? program.pid : -program.pid;
      if (!isWindows) release = killGroupOnExit(program.pid);
    }
    // The process id may be reused soon, unless another process of its group still runs.
    program.once("exit", () => {
      if (isWindows || !signalProgram(0)) forgetProgram();
    });
    program.once("close", () => void endOnce());
    await once(program, "spawn");
    program.stderr.on("data", (chunk: Buffer) => {
      const lastLine = chunk.toString("utf8").trim().split("\n").at(-1) ?? "";
      if (lastLine !== "") onOutput(oneLine(lastLine).slice(0, 200));
    });
    return { input: program.stdout, output: program.stdin, closeEmitter: program };
  };
  let endPromise: Promise<void> | undefined;
  const endOnce = async (): Promise<void> => await (endPromise ??= end());
  return await messageTransport(openPipes, endOnce);

  async function end(): Promise<void> {
    if (child?.pid === undefined) return;
    const { stdin, stdout, stderr } = child;
    stdin.end();
    // First its stdin is closed; then the group gets SIGTERM, and at last SIGKILL.
    for (const name of ["SIGTERM", "SIGKILL"] as const) {
      const deadline = performance.now() + graceMs;
      while (signalProgram(0) && performance.now() < deadline) await sleep(20);
      if (!signalProgram(name)) break;
    }
    forgetProgram();
    // A process that left the group may still have the pipes open.
    for (const pipe of [stdin, stdout, stderr]) pipe.destroy();
  }
}

/** Milliseconds that a program has to end after its stdin was closed, and again after SIGTERM. */
const graceMs = 500;

const socketTransport = async (path: string): Promise<Transport> => {
  let socket: Socket | undefined;
  const openPipes = async (): Promise<Pipes> => {
    socket = createConnection(path);
    await once(socket, "connect");
    return { input: socket, output: socket, closeEmitter: socket };
  };
  return await messageTransport(openPipes, async () => void socket?.destroy());
};

interface Pipes {
  readonly input: Readable;
  readonly output: Writable;
  /** Emits "close" when no more data can arrive. */
  readonly closeEmitter: EventEmitter;
}

/** A transport that sends and receives one JSON-RPC message per line. */
async function messageTransport(open: () => Promise<Pipes>, close: () => Promise<void>): Promise<Transport> {
  const { ReadBuffer, serializeMessage } = await import("@modelcontextprotocol/client");
  const readBuffer = new ReadBuffer();
  let pipes: Pipes | undefined;
  const transport: Transport = {
    async start() {
      const { input, output, closeEmitter } = await open();
      pipes = { input, output, closeEmitter };
      for (const pipe of new Set([input, output])) pipe.on("error", (error: Error) => transport.onerror?.(error));
      closeEmitter.on("close", () => transport.onclose?.());
      input.on("data", (chunk: Buffer) => {
        try {
          readBuffer.append(chunk);
        } catch (error) {
          // The line is too long. The beginning of the next message can't be found any more.
          input.removeAllListeners("data").resume();
          transport.onerror?.(error as Error);
          return void close().then(() => transport.onclose?.());
        }
        for (;;) {
          try {
            const message = readBuffer.readMessage();
            if (message === null) return;
            transport.onmessage?.(message);
          } catch (error) {
            transport.onerror?.(error as Error);
          }
        }
      });
    },
    send: async (message) =>
      await new Promise((resolve, reject) => {
        if (pipes === undefined) return reject(new Error("Not connected"));
        pipes.output.write(serializeMessage(message), (error) => (error == null ? resolve() : reject(error)));
      }),
    close,
  };
  return transport;
}

/** The environment of a server: the variables that every program needs, and those in its settings. */
async function environmentFor(
  serverEnv: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv,
): Promise<Record<string, string>> {
  const names =
    process.platform === "win32"
      ? (await import("@modelcontextprotocol/client/stdio")).DEFAULT_INHERITED_ENV_VARS
      : ["PATH", "HOME", markVariable, hookMarkVariable];
  const inherited = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return { ...Object.fromEntries(inherited), ...serverEnv };
}

async function toolsOf(client: Client, timeout: number): Promise<ServerTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const { tools } = await client.listTools(undefined, { timeout });
  return tools.map(({ name, description = "", inputSchema, annotations }) => ({
    name,
    description,
    parameters: inputSchema,
    isReadOnly: annotations?.readOnlyHint === true,
  }));
}

async function callTool(
  client: Client,
  name: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<CallResult> {
  const result = await client.callTool({ name, arguments: { ...args } }, { timeout: callTimeoutMs, signal });
  const parts = result.content.map((part) => {
    if (part.type === "text") return part.text;
    if (part.type === "resource" && "text" in part.resource) return `${part.resource.uri}:\n${part.resource.text}`;
    if (part.type === "resource_link") return `${part.name}: ${part.uri}`;
    return `[${part.type}${"mimeType" in part ? ` ${part.mimeType}` : ""}, not shown]`;
  });
  const fullText =
    parts.length === 0 && result.structuredContent !== undefined
      ? JSON.stringify(result.structuredContent)
      : parts.join("\n");
  const text =
    fullText.length > maxCharacters
      ? `${fullText.slice(0, maxCharacters)}\n[${fullText.length - maxCharacters} more characters are left out]`
      : fullText;
  return { text, failed: result.isError === true };
}

async function runWithTimeout<Value>(
  ms: number,
  stopSignal: AbortSignal | undefined,
  work: () => Promise<Value>,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("late")), ms);
    stop = () => reject(new Error("The connection was stopped"));
  });
  stopSignal?.addEventListener("abort", stop);
  try {
    return await Promise.race([work(), timeout]);
  } finally {
    clearTimeout(timer);
    stopSignal?.removeEventListener("abort", stop);
  }
}

/** An error and its causes. The packages wrap system errors. */
function* causesOf(error: unknown): Generator<unknown> {
  for (let current = error, depth = 0; current !== undefined && depth < 5; depth += 1) {
    yield current;
    current = current instanceof Error ? current.cause : undefined;
  }
}

const codesIn = (error: unknown): string[] =>
  [...causesOf(error)].flatMap((cause) => (cause instanceof Error && "code" in cause ? [String(cause.code)] : []));

/** Whether the connection can't be used any more. If the server itself answers with an error, it can. */
const isConnectionLost = (error: unknown): boolean =>
  hasNotArrived(error) || codesIn(error).some((code) => /CONNECTION_CLOSED|SEND_FAILED|ECONNRESET|UND_ERR/.test(code));

/** Whether no server was running, or the server was restarted and does not know this session. */
function hasNotArrived(error: unknown): boolean {
  const status = [...causesOf(error)].map((cause) => (cause as { status?: unknown } | undefined)?.status);
  return (
    codesIn(error).some((code) => /^(?:NOT_CONNECTED|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EPIPE)$/.test(code)) ||
    status.includes(404)
  );
}

function connectionProblem(
  error: unknown,
  ms: number,
  by: ServerSettings["transport"]["by"],
  lastOutputLine: string,
): string {
  if (messageOf(error) === "late" || codesIn(error).some((code) => /TIMEOUT/.test(code)))
    return `did not answer within ${ms / 1000} seconds`;
  const systemError = [...causesOf(error)].find((cause) =>
    hasCode(cause, "ENOENT", "EACCES", "ECONNREFUSED", "ENOTFOUND"),
  );
  if (by === "stdio" && hasCode(systemError, "ENOENT")) return "can't be started: its program was not found (ENOENT)";
  if (by === "stdio" && hasCode(systemError, "EACCES")) return "can't be started: its program may not be run (EACCES)";
  if (systemError !== undefined) return `can't be reached (${systemError.code})`;
  const errorText = oneLine(messageOf(error)).replace(/^SSE error: (?:\w+: )?(?:fetch failed: )?/, "");
  const details = lastOutputLine === "" ? errorText.slice(0, 200) : lastOutputLine;
  return `${by === "stdio" ? "did not start" : "can't be reached"} (${details.replace(/\.$/, "")})`;
}
