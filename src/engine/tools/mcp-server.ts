import type { Readable } from "node:stream";
import { Writable } from "node:stream";
import { Server, type ServerContext } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { isProblem, type Parameter, type Problem, unknownTool } from "./tool.js";

/** What a client can read whole, besides calling tools. */
export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string;
  /** Its text as it stands now; undefined if it is still missing. */
  read(): Promise<string | undefined>;
}

/** How far a call has come; `total` where it is known. `done` only grows. */
export interface CallProgress {
  readonly done: number;
  readonly total?: number;
  /** One sentence. */
  readonly message: string;
}

/** What a call comes to besides a problem: the text, and the same as one JSON object where the tool describes it. */
export interface Answered {
  readonly text: string;
  readonly structured?: Readonly<Record<string, unknown>>;
}

/** JSON Schema of a tool's arguments, whatever they are. */
export interface ServedParameters {
  readonly type: "object";
  readonly properties: Readonly<Record<string, Parameter>>;
  readonly required?: readonly string[];
}

/** A tool as a client sees it. */
export interface ServedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: ServedParameters;
  /** JSON Schema of what `structured` holds. */
  readonly answers?: { readonly type: "object"; readonly [keyword: string]: unknown };
  /** What a client may ask a person about before it calls the tool. */
  readonly hints: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint?: boolean;
    readonly openWorldHint?: boolean;
  };
  /** `signal` aborts once the client takes the call back or goes away. Throws only for our own bugs. */
  call(
    given: unknown,
    signal: AbortSignal,
    progress: (progressFields: CallProgress) => void,
  ): Promise<Answered | Problem>;
}

/** All that a client is offered. */
export interface Offer {
  readonly tools: readonly ServedTool[];
  /** What there is to read now; absent: nothing, ever. */
  readonly resources?: () => Promise<readonly Resource[]>;
  /** What a client's model should know of all tools together. */
  readonly instructions?: string;
  readonly version: string;
}

interface Client {
  readonly stdin: Readable;
  stdout(text: string): void;
  /** Told what goes wrong between the two. */
  report(message: string): void;
  /** Aborted where the server is to end though the client is still there. */
  readonly end?: AbortSignal;
}

/**
 * Serves tools to the client that writes `stdin` and reads what `stdout` is given, until it goes away; calls under way
 * are then aborted, and have ended when this resolves. Nothing but the protocol is written.
 */
export async function serveOverStdio(offer: Offer, { stdin, stdout, report, end }: Client): Promise<void> {
  const transport = new StdioServerTransport(
    stdin,
    new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => {
        stdout(text);
        done();
      },
    }),
  );
  const clientGone = new AbortController();
  const calls = new Set<Promise<unknown>>();
  await new Promise<void>((resolve) => {
    serveStdio(() => serverFor(offer, clientGone.signal, calls), {
      transport,
      onerror: ({ message }) => report(errorSentence(message)),
    });
    const close = transport.onclose;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is not an event target
    transport.onclose = () => {
      close?.();
      resolve();
    };
    end?.addEventListener("abort", () => void transport.close(), { once: true });
    if (end?.aborted === true) void transport.close();
  });
  clientGone.abort();
  await Promise.allSettled(calls);
}

/** What went wrong with a client, for a person: the validator's own words are a page of JSON. */
function errorSentence(message: string): string {
  if (message.startsWith("ReadBuffer exceeded")) return "The client sent a line of more than 10 MB; the server ends.";
  return /^\s*[[{]|JSON|token/.test(message)
    ? "The client sent a line that is not an MCP message; it is ignored."
    : message;
}

/** The low-level server: the high-level one answers wrong arguments and unknown tools in its own words, at length. */
function serverFor(
  { tools, resources, instructions, version }: Offer,
  clientGone: AbortSignal,
  calls: Set<Promise<unknown>>,
): Server {
  const capabilities = { tools: {}, ...(resources === undefined ? {} : { resources: {} }) };
  const server = new Server({ name: "research-ralph", version }, { capabilities, instructions });
  if (resources !== undefined) serveResources(server, resources);
  server.setRequestHandler("tools/list", () => ({
    tools: tools.map(({ name, description, parameters: { required, ...schema }, answers, hints }) => ({
      name,
      description,
      annotations: hints,
      inputSchema: { ...schema, ...(required === undefined ? {} : { required: [...required] }) },
      outputSchema: answers,
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const pendingAnswer = answerTo(
      tools,
      params.name,
      params.arguments,
      AbortSignal.any([mcpReq.signal, clientGone]),
      mcpReq,
    );
    calls.add(pendingAnswer);
    const answer = await pendingAnswer.finally(() => calls.delete(pendingAnswer));
    const textContent = (text: string) => [{ type: "text" as const, text }];
    if (isProblem(answer)) return { content: textContent(answer.problem), isError: true };
    const { text, structured } = answer;
    return { content: textContent(text), structuredContent: structured };
  });
  return server;
}

async function answerTo(
  tools: readonly ServedTool[],
  name: string,
  given: unknown,
  signal: AbortSignal,
  { _meta, notify }: ServerContext["mcpReq"],
): Promise<Answered | Problem> {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined)
    return {
      problem: unknownTool(
        tools.map((each) => each.name),
        name,
      ),
    };
  const token = _meta?.progressToken;
  return await tool.call(given, signal, ({ done, ...progressFields }) => {
    if (token === undefined || signal.aborted) return;
    const params = { progressToken: token, progress: done, ...progressFields };
    // The client may have gone between two of them.
    notify({ method: "notifications/progress", params }).catch(() => undefined);
  });
}

function serveResources(server: Server, listResources: () => Promise<readonly Resource[]>): void {
  server.setRequestHandler("resources/list", async () => ({
    resources: (await listResources()).map(({ read: _, ...resource }) => resource),
  }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
    const resources = await listResources();
    const wanted = resources.find((resource) => resource.uri === uri);
    if (wanted === undefined)
      throw new Error(
        `There is no resource ${uri.slice(0, 100)}; there are ${resources.map((each) => each.uri).join(", ")}.`,
      );
    const text = (await wanted.read()) ?? `There is no ${wanted.name} yet.`;
    return { contents: [{ uri, mimeType: wanted.mimeType, text }] };
  });
}
