import type { Readable } from "node:stream";
import { Writable } from "node:stream";
import { Server, type ServerContext } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { isProblem, type Parameter, type Problem, unknownToolMessage } from "./tool.js";

/** A text that a client can read, in addition to calling tools. */
export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string;
  /** The current text; undefined if it does not exist yet. */
  read(): Promise<string | undefined>;
}

/** The progress of a call. `done` never decreases; `total` is absent if it is unknown. */
export interface CallProgress {
  readonly done: number;
  readonly total?: number;
  /** One sentence. */
  readonly message: string;
}

/** The result of a successful call: a text, and the same data as a JSON object if the tool has an `answerSchema`. */
export interface CallAnswer {
  readonly text: string;
  readonly structured?: Readonly<Record<string, unknown>>;
}

/** JSON Schema of the arguments of any tool. */
export interface ServedParameters {
  readonly type: "object";
  readonly properties: Readonly<Record<string, Parameter>>;
  readonly required?: readonly string[];
}

/** A tool in the form that clients get. */
export interface ServedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: ServedParameters;
  /** JSON Schema of `structured`. */
  readonly answerSchema?: { readonly type: "object"; readonly [keyword: string]: unknown };
  /** Properties of the tool, by which a client decides whether to ask its user before a call. */
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint?: boolean;
    readonly openWorldHint?: boolean;
  };
  /**
   * Calls the tool. `signal` is aborted if the client cancels the call or closes the connection. Throws only for a bug
   * in this program.
   */
  call(
    given: unknown,
    signal: AbortSignal,
    progress: (progressFields: CallProgress) => void,
  ): Promise<CallAnswer | Problem>;
}

/** Everything that a server offers to a client. */
export interface ServerContent {
  readonly tools: readonly ServedTool[];
  /** The resources that exist now; absent: the server has none. */
  readonly resources?: () => Promise<readonly Resource[]>;
  /** Instructions about all tools for the model of the client. */
  readonly instructions?: string;
  readonly version: string;
}

interface Client {
  readonly stdin: Readable;
  stdout(text: string): void;
  /** Reports a problem of the connection. */
  report(message: string): void;
  /** Aborted if the server should end although the client is still connected. */
  readonly end?: AbortSignal;
}

/**
 * Serves tools to a client over `stdin` and `stdout` until the client closes the connection. Running calls are then
 * aborted, and have ended when this resolves. Writes only messages of the protocol.
 */
export async function serveOverStdio(offer: ServerContent, { stdin, stdout, report, end }: Client): Promise<void> {
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

/** One sentence for a wrong message of a client. The message of the library would be a page of JSON. */
function errorSentence(message: string): string {
  if (message.startsWith("ReadBuffer exceeded")) return "The client sent a line of more than 10 MB; the server ends.";
  return /^\s*[[{]|JSON|token/.test(message)
    ? "The client sent a line that is not an MCP message; it is ignored."
    : message;
}

/** Uses the low-level server of the library: the high-level one answers invalid calls with long texts of its own. */
function serverFor(
  { tools, resources, instructions, version }: ServerContent,
  clientGone: AbortSignal,
  calls: Set<Promise<unknown>>,
): Server {
  const capabilities = { tools: {}, ...(resources === undefined ? {} : { resources: {} }) };
  const server = new Server({ name: "research-ralph", version }, { capabilities, instructions });
  if (resources !== undefined) serveResources(server, resources);
  server.setRequestHandler("tools/list", () => ({
    tools: tools.map(({ name, description, parameters: { required, ...schema }, answerSchema, annotations }) => ({
      name,
      description,
      annotations,
      inputSchema: { ...schema, ...(required === undefined ? {} : { required: [...required] }) },
      outputSchema: answerSchema,
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
  callArguments: unknown,
  signal: AbortSignal,
  { _meta, notify }: ServerContext["mcpReq"],
): Promise<CallAnswer | Problem> {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined)
    return {
      problem: unknownToolMessage(
        tools.map((knownTool) => knownTool.name),
        name,
      ),
    };
  const token = _meta?.progressToken;
  return await tool.call(callArguments, signal, ({ done, ...progressFields }) => {
    if (token === undefined || signal.aborted) return;
    const params = { progressToken: token, progress: done, ...progressFields };
    // The client may have closed the connection.
    notify({ method: "notifications/progress", params }).catch(() => undefined);
  });
}

function serveResources(server: Server, listResources: () => Promise<readonly Resource[]>): void {
  server.setRequestHandler("resources/list", async () => ({
    resources: (await listResources()).map(({ read: _, ...resource }) => resource),
  }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
    const resources = await listResources();
    const requestedResource = resources.find((resource) => resource.uri === uri);
    if (requestedResource === undefined)
      throw new Error(
        `There is no resource ${uri.slice(0, 100)}; there are ${resources.map((knownResource) => knownResource.uri).join(", ")}.`,
      );
    const text = (await requestedResource.read()) ?? `There is no ${requestedResource.name} yet.`;
    return { contents: [{ uri, mimeType: requestedResource.mimeType, text }] };
  });
}
