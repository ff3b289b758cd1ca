import type { Readable } from "node:stream";
import { Writable } from "node:stream";
import { Server } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { callTool } from "./all-tools.js";
import { isProblem } from "../../engine/tools/tool.js";
import type { ToolContext, ResearchTool } from "./context.js";

/** What a client can read whole, besides calling tools. */
export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string;
  /** Its text as it stands now; undefined where it is still missing. */
  read(): Promise<string | undefined>;
}

interface Client {
  readonly stdin: Readable;
  stdout(text: string): void;
  /** Told what goes wrong between the two. */
  report(message: string): void;
}

/**
 * Serves tools to the client that writes `stdin` and reads what `stdout` is given, until it goes away. Nothing but the
 * protocol is written.
 */
export async function serveOverStdio(
  tools: readonly ResearchTool[],
  resources: readonly Resource[],
  context: ToolContext,
  version: string,
  { stdin, stdout, report }: Client,
): Promise<void> {
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
  await new Promise<void>((resolve) => {
    serveStdio(() => serverFor(tools, resources, context, version), {
      transport,
      onerror: ({ message }) => report(worded(message)),
    });
    const close = transport.onclose;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is not an event target
    transport.onclose = () => {
      close?.();
      resolve();
    };
  });
}

/** What went wrong with a client, for a person: the validator's own words are a page of JSON. */
function worded(message: string): string {
  if (message.startsWith("ReadBuffer exceeded")) return "The client sent a line of more than 10 MB; the server ends.";
  return /^\s*[[{]|JSON|token/.test(message)
    ? "The client sent a line that is not an MCP message; it is ignored."
    : message;
}

/** The low-level server: the high-level one answers wrong arguments and unknown tools in its own words, at length. */
function serverFor(
  tools: readonly ResearchTool[],
  resources: readonly Resource[],
  context: ToolContext,
  version: string,
): Server {
  const capabilities = { tools: {}, ...(resources.length === 0 ? {} : { resources: {} }) };
  const server = new Server({ name: "research-ralph", version }, { capabilities });
  if (resources.length > 0) serveResources(server, resources);
  server.setRequestHandler("tools/list", () => ({
    tools: tools.map(({ name, description, parameters: { required, ...schema } }) => ({
      name,
      description,
      inputSchema: { ...schema, ...(required === undefined ? {} : { required: [...required] }) },
      annotations: { readOnlyHint: true },
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const answer = await callTool(tools, params.name, params.arguments, context, mcpReq.signal);
    const said = (text: string) => [{ type: "text" as const, text }];
    return isProblem(answer) ? { content: said(answer.problem), isError: true } : { content: said(answer.text) };
  });
  return server;
}

function serveResources(server: Server, resources: readonly Resource[]): void {
  server.setRequestHandler("resources/list", () => ({
    resources: resources.map(({ read: _, ...resource }) => resource),
  }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
    const wanted = resources.find((resource) => resource.uri === uri);
    if (wanted === undefined)
      throw new Error(
        `There is no resource ${uri.slice(0, 100)}; there are ${resources.map((each) => each.uri).join(", ")}.`,
      );
    const text = (await wanted.read()) ?? `There is no ${wanted.name} yet.`;
    return { contents: [{ uri, mimeType: wanted.mimeType, text }] };
  });
}
