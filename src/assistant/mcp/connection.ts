import { type ChildProcessByStdio, spawn } from "node:child_process";
import { type EventEmitter, once } from "node:events";
import { createConnection, type Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, Transport } from "@modelcontextprotocol/client";
import { hasCode, messageOf } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { killGroupOnExit, hookMarker, marker, sendSignal } from "../../engine/process/descendants.js";
import type { ServerSettings } from "./server-settings.js";

/** A tool, as its server describes it. */
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
  /** False after the server has ended, and after a call that did not reach it. */
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
 * Starts or connects to a server and reads its list of tools. Rejects with a sentence if that fails, takes longer than
 * `ms` milliseconds or is aborted. A program gets only PATH, HOME, the variables of its settings, and the marks by
 * which a run finds processes that its agents started.
 */
export async function connect(
  { name, reached }: ServerSettings,
  {
    cwd,
    env,
    version,
    ms,
    givenUp,
  }: { cwd: string; env: NodeJS.ProcessEnv; version: string; ms: number; givenUp?: AbortSignal },
): Promise<Connection> {
  const { Client } = await import("@modelcontextprotocol/client");
  const client = new Client({ name: "ralph", version });
  let isOpen = true;
  let lastOutputLine = "";
  const { transport, stop } = await transportFor(reached, { cwd, env, heard: (text) => (lastOutputLine = text) });
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client is not an event target
  client.onclose = () => (isOpen = false);
  const close = async () => {
    isOpen = false;
    stop();
    await client.close().catch(() => undefined);
  };
  try {
    const tools = await withTimeout(ms, givenUp, async () => {
      givenUp?.throwIfAborted();
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
          if (isLost(error)) isOpen = false;
          if (neverArrived(error)) throw new NotReached(messageOf(error));
          throw error;
        }
      },
      close,
    };
  } catch (error) {
    await close();
    throw new Error(`The MCP server ${name} ${connectionProblem(error, ms, reached.by, lastOutputLine)}.`, {
      cause: error,
    });
  }
}

/** A transport, and a function that ends its connections without waiting. */
async function transportFor(
  reached: ServerSettings["reached"],
  { cwd, env, heard }: { cwd: string; env: NodeJS.ProcessEnv; heard: (text: string) => void },
): Promise<{ transport: unknown; stop: () => void }> {
  if (reached.by === "stdio")
    return { transport: await programTransport(reached, { cwd, env, heard }), stop: () => undefined };
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
  { command, args, env: serverEnv }: Extract<ServerSettings["reached"], { by: "stdio" }>,
  { cwd, env, heard }: { cwd: string; env: NodeJS.ProcessEnv; heard: (text: string) => void },
): Promise<Transport> {
  const isWindows = process.platform === "win32";
  const environment = await environmentFor(serverEnv, env);
  let child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  /** The process or process group for signals; undefined while none of it runs. */
  let target: number | undefined;
  let release = (): void => undefined;
  const forget = (): void => {
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
      if (isWindows || !signalProgram(0)) forget();
    });
    program.once("close", () => void endOnce());
    await once(program, "spawn");
    program.stderr.on("data", (chunk: Buffer) => {
      const lastLine = chunk.toString("utf8").trim().split("\n").at(-1) ?? "";
      if (lastLine !== "") heard(oneLine(lastLine).slice(0, 200));
    });
    return { from: program.stdout, to: program.stdin, whole: program };
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
    forget();
    // A process that left the group may still hold the pipes.
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
    return { from: socket, to: socket, whole: socket };
  };
  return await messageTransport(openPipes, async () => void socket?.destroy());
};

interface Pipes {
  readonly from: Readable;
  readonly to: Writable;
  /** Emits "close" when nothing more can arrive. */
  readonly whole: EventEmitter;
}

/** A transport with one JSON-RPC message per line, as on the stdin and stdout of a program. */
async function messageTransport(open: () => Promise<Pipes>, close: () => Promise<void>): Promise<Transport> {
  const { ReadBuffer, serializeMessage } = await import("@modelcontextprotocol/client");
  const received = new ReadBuffer();
  let pipes: Pipes | undefined;
  const transport: Transport = {
    async start() {
      const { from, to, whole } = await open();
      pipes = { from, to, whole };
      for (const pipe of new Set([from, to])) pipe.on("error", (error: Error) => transport.onerror?.(error));
      whole.on("close", () => transport.onclose?.());
      from.on("data", (chunk: Buffer) => {
        try {
          received.append(chunk);
        } catch (error) {
          // The line is too long. The beginning of the next message can't be found any more.
          from.removeAllListeners("data").resume();
          transport.onerror?.(error as Error);
          return void close().then(() => transport.onclose?.());
        }
        for (;;) {
          try {
            const message = received.readMessage();
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
        pipes.to.write(serializeMessage(message), (error) => (error == null ? resolve() : reject(error)));
      }),
    close,
  };
  return transport;
}

/** The environment of a program: what every program needs, and its own settings. */
async function environmentFor(
  serverEnv: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv,
): Promise<Record<string, string>> {
  const names =
    process.platform === "win32"
      ? (await import("@modelcontextprotocol/client/stdio")).DEFAULT_INHERITED_ENV_VARS
      : ["PATH", "HOME", marker, hookMarker];
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

async function withTimeout<Value>(
  ms: number,
  givenUp: AbortSignal | undefined,
  work: () => Promise<Value>,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("late")), ms);
    stop = () => reject(new Error("It was given up"));
  });
  givenUp?.addEventListener("abort", stop);
  try {
    return await Promise.race([work(), timeout]);
  } finally {
    clearTimeout(timer);
    givenUp?.removeEventListener("abort", stop);
  }
}

/** An error and its causes: the packages wrap system errors. */
function* causes(error: unknown): Generator<unknown> {
  for (let current = error, depth = 0; current !== undefined && depth < 5; depth += 1) {
    yield current;
    current = current instanceof Error ? current.cause : undefined;
  }
}

const codesIn = (error: unknown): string[] =>
  [...causes(error)].flatMap((cause) => (cause instanceof Error && "code" in cause ? [String(cause.code)] : []));

/** Whether the connection can't be used any more. An error in an answer comes from a server that is still there. */
const isLost = (error: unknown): boolean =>
  neverArrived(error) || codesIn(error).some((code) => /CONNECTION_CLOSED|SEND_FAILED|ECONNRESET|UND_ERR/.test(code));

/** Whether there was no server, or the server does not know us because it was restarted. */
function neverArrived(error: unknown): boolean {
  const status = [...causes(error)].map((cause) => (cause as { status?: unknown } | undefined)?.status);
  return (
    codesIn(error).some((code) => /^(?:NOT_CONNECTED|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EPIPE)$/.test(code)) ||
    status.includes(404)
  );
}

function connectionProblem(
  error: unknown,
  ms: number,
  by: ServerSettings["reached"]["by"],
  lastOutputLine: string,
): string {
  if (messageOf(error) === "late" || codesIn(error).some((code) => /TIMEOUT/.test(code)))
    return `did not answer within ${ms / 1000} seconds`;
  const systemError = [...causes(error)].find((cause) =>
    hasCode(cause, "ENOENT", "EACCES", "ECONNREFUSED", "ENOTFOUND"),
  );
  if (by === "stdio" && hasCode(systemError, "ENOENT")) return "is a program that is not there (ENOENT)";
  if (by === "stdio" && hasCode(systemError, "EACCES")) return "is a program that may not be run (EACCES)";
  if (systemError !== undefined) return `can't be reached (${(systemError as NodeJS.ErrnoException).code})`;
  const errorText = oneLine(messageOf(error)).replace(/^SSE error: (?:\w+: )?(?:fetch failed: )?/, "");
  const details = lastOutputLine === "" ? errorText.slice(0, 200) : lastOutputLine;
  return `${by === "stdio" ? "did not start" : "can't be reached"} (${details.replace(/\.$/, "")})`;
}
