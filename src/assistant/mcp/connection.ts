import { type ChildProcessByStdio, spawn } from "node:child_process";
import { type EventEmitter, once } from "node:events";
import { createConnection, type Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, Transport } from "@modelcontextprotocol/client";
import { hasCode, messageOf } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { killGroupOnExit, hookMark, marker, signal } from "../../engine/process/descendants.js";
import type { ServerSettings } from "./server-settings.js";

/** A tool as its server describes it. */
export interface ServerTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly parameters: object;
  /** What the server says of itself: it changes nothing. */
  readonly isReadOnly: boolean;
}

/** What a call brought, as text; `failed` where the tool says that it could not do it. */
export interface Called {
  readonly text: string;
  readonly failed: boolean;
}

/** A server that answers. */
export interface Connection {
  readonly tools: readonly ServerTool[];
  /** False once it has ended, and after a call that did not reach it. */
  isOpen(): boolean;
  /** Rejects with NotReached where the call did not arrive, else with what went wrong. */
  call(tool: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Called>;
  close(): Promise<void>;
}

/** A call that certainly did not arrive, so that it may be made again. */
export class NotReached extends Error {}

/** Milliseconds of a call. */
const callMs = 300_000;
/** Characters of a result: more would fill the window of any model. */
const maxCharacters = 100_000;

/**
 * Starts or reaches a server and asks for its tools. Rejects with one sentence where that takes longer than `ms`
 * milliseconds, fails or is given up. A program gets PATH, HOME and the variables of its own settings, nothing else but
 * the marks by which a run finds what its agents started.
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
  let lastWords = "";
  const { transport, stop } = await transportFor(reached, { cwd, env, heard: (text) => (lastWords = text) });
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client is not an event target
  client.onclose = () => (isOpen = false);
  const close = async () => {
    isOpen = false;
    stop();
    await client.close().catch(() => undefined);
  };
  try {
    const tools = await within(ms, givenUp, async () => {
      givenUp?.throwIfAborted();
      await client.connect(transport as Transport, { timeout: ms });
      return await toolsOf(client, ms);
    });
    return {
      tools,
      isOpen: () => isOpen,
      async call(tool, args, signal) {
        try {
          return await calling(client, tool, args, signal);
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
    throw new Error(`The MCP server ${name} ${whyNot(error, ms, reached.by, lastWords)}.`, { cause: error });
  }
}

/** A transport, and what ends its connections without waiting for them. */
async function transportFor(
  reached: ServerSettings["reached"],
  { cwd, env, heard }: { cwd: string; env: NodeJS.ProcessEnv; heard: (text: string) => void },
): Promise<{ transport: unknown; stop: () => void }> {
  if (reached.by === "stdio")
    return { transport: await programTransport(reached, { cwd, env, heard }), stop: () => undefined };
  if (reached.by === "socket") return { transport: await socketTransport(reached.path), stop: () => undefined };
  const { SSEClientTransport, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { EnvHttpProxyAgent, fetch } = await import("undici");
  // A stream of events may stay silent for hours.
  const dispatcher = new EnvHttpProxyAgent({ headersTimeout: 0, bodyTimeout: 0 });
  const options = {
    fetch: (async (url: string | URL, init: object = {}) =>
      await fetch(url, { ...init, dispatcher })) as unknown as typeof globalThis.fetch,
    requestInit: { headers: { ...reached.headers } },
  };
  const Kind = reached.by === "sse" ? SSEClientTransport : StreamableHTTPClientTransport;
  return { transport: new Kind(reached.url, options), stop: () => void dispatcher.close().catch(() => undefined) };
}

/** A server on this machine, in a process group of its own: a shell or npx often stands between it and this process. */
async function programTransport(
  { command, args, env: own }: Extract<ServerSettings["reached"], { by: "stdio" }>,
  { cwd, env, heard }: { cwd: string; env: NodeJS.ProcessEnv; heard: (text: string) => void },
): Promise<Transport> {
  const isWindows = process.platform === "win32";
  const environment = await environmentOf(own, env);
  let child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  /** What is signalled: its group where there are groups; undefined while nobody of it runs. */
  let target: number | undefined;
  let release = (): void => undefined;
  const forget = (): void => {
    target = undefined;
    release();
  };
  const send = (name: NodeJS.Signals | 0): boolean => target !== undefined && signal(target, name);
  const opened = async (): Promise<Pipes> => {
    const started = spawn(command, args, { cwd, env: environment, detached: !isWindows, windowsHide: true });
    child = started;
    if (started.pid !== undefined) {
      target = isWindows ? started.pid : -started.pid;
      if (!isWindows) release = killGroupOnExit(started.pid);
    }
    // Its number may soon be another's, unless somebody of its group goes on.
    started.once("exit", () => {
      if (isWindows || !send(0)) forget();
    });
    started.once("close", () => void ended());
    await once(started, "spawn");
    started.stderr.on("data", (chunk: Buffer) => {
      const last = chunk.toString("utf8").trim().split("\n").at(-1) ?? "";
      if (last !== "") heard(oneLine(last).slice(0, 200));
    });
    return { from: started.stdout, to: started.stdin, whole: started };
  };
  let ending: Promise<void> | undefined;
  const ended = async (): Promise<void> => await (ending ??= end());
  return await messageTransport(opened, ended);

  async function end(): Promise<void> {
    if (child?.pid === undefined) return;
    const { stdin, stdout, stderr } = child;
    stdin.end();
    // First its stdin has ended, then it is asked, then it is ended, with all that it started.
    for (const name of ["SIGTERM", "SIGKILL"] as const) {
      const until = performance.now() + graceMs;
      while (send(0) && performance.now() < until) await sleep(20);
      if (!send(name)) break;
    }
    forget();
    // What left its group may still hold them.
    for (const pipe of [stdin, stdout, stderr]) pipe.destroy();
  }
}

/** Milliseconds in which a program ends once its stdin has, and once it was asked to. */
const graceMs = 500;

const socketTransport = async (path: string): Promise<Transport> => {
  let socket: Socket | undefined;
  const opened = async (): Promise<Pipes> => {
    socket = createConnection(path);
    await once(socket, "connect");
    return { from: socket, to: socket, whole: socket };
  };
  return await messageTransport(opened, async () => void socket?.destroy());
};

interface Pipes {
  readonly from: Readable;
  readonly to: Writable;
  /** Says "close" once nothing more can come. */
  readonly whole: EventEmitter;
}

/** A JSON-RPC message a line, as on the stdin and stdout of a program. */
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
          // A line that is too long; what follows could not be told from its rest.
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

/** What a program needs to run at all: on Windows, what the system itself sets. */
async function environmentOf(
  own: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv,
): Promise<Record<string, string>> {
  const names =
    process.platform === "win32"
      ? (await import("@modelcontextprotocol/client/stdio")).DEFAULT_INHERITED_ENV_VARS
      : ["PATH", "HOME", marker, hookMark];
  const found = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return { ...Object.fromEntries(found), ...own };
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

async function calling(
  client: Client,
  name: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Called> {
  const result = await client.callTool({ name, arguments: { ...args } }, { timeout: callMs, signal });
  const parts = result.content.map((part) => {
    if (part.type === "text") return part.text;
    if (part.type === "resource" && "text" in part.resource) return `${part.resource.uri}:\n${part.resource.text}`;
    if (part.type === "resource_link") return `${part.name}: ${part.uri}`;
    return `[${part.type}${"mimeType" in part ? ` ${part.mimeType}` : ""}, not shown]`;
  });
  const whole =
    parts.length === 0 && result.structuredContent !== undefined
      ? JSON.stringify(result.structuredContent)
      : parts.join("\n");
  const text =
    whole.length > maxCharacters
      ? `${whole.slice(0, maxCharacters)}\n[${whole.length - maxCharacters} more characters are left out]`
      : whole;
  return { text, failed: result.isError === true };
}

async function within<Value>(ms: number, givenUp: AbortSignal | undefined, work: () => Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("late")), ms);
    stop = () => reject(new Error("It was given up"));
  });
  givenUp?.addEventListener("abort", stop);
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
    givenUp?.removeEventListener("abort", stop);
  }
}

/** The errors under an error: the packages wrap what the system says. */
function* causes(error: unknown): Generator<unknown> {
  for (let at = error, depth = 0; at !== undefined && depth < 5; depth += 1) {
    yield at;
    at = at instanceof Error ? at.cause : undefined;
  }
}

const codesIn = (error: unknown): string[] =>
  [...causes(error)].flatMap((each) => (each instanceof Error && "code" in each ? [String(each.code)] : []));

/** The connection can't be used any more. An answer that is an error comes from a server that is there. */
const isLost = (error: unknown): boolean =>
  neverArrived(error) || codesIn(error).some((code) => /CONNECTION_CLOSED|SEND_FAILED|ECONNRESET|UND_ERR/.test(code));

/** No server was there, or it does not know us any more because it was started anew. */
function neverArrived(error: unknown): boolean {
  const status = [...causes(error)].map((each) => (each as { status?: unknown } | undefined)?.status);
  return (
    codesIn(error).some((code) => /^(?:NOT_CONNECTED|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EPIPE)$/.test(code)) ||
    status.includes(404)
  );
}

function whyNot(error: unknown, ms: number, by: ServerSettings["reached"]["by"], lastWords: string): string {
  if (messageOf(error) === "late" || codesIn(error).some((code) => /TIMEOUT/.test(code)))
    return `did not answer within ${ms / 1000} seconds`;
  const system = [...causes(error)].find((each) => hasCode(each, "ENOENT", "EACCES", "ECONNREFUSED", "ENOTFOUND"));
  if (by === "stdio" && hasCode(system, "ENOENT")) return "is a program that is not there (ENOENT)";
  if (by === "stdio" && hasCode(system, "EACCES")) return "is a program that may not be run (EACCES)";
  if (system !== undefined) return `can't be reached (${(system as NodeJS.ErrnoException).code})`;
  const words = oneLine(messageOf(error)).replace(/^SSE error: (?:\w+: )?(?:fetch failed: )?/, "");
  const said = lastWords === "" ? words.slice(0, 200) : lastWords;
  return `${by === "stdio" ? "did not start" : "can't be reached"} (${said.replace(/\.$/, "")})`;
}
