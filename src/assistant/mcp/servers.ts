import { messageOf } from "../../engine/lib/errors.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { type Called, connect, type Connection, NotReached, type ServerTool } from "./connection.js";
import { type ServerProblem, type ServerSettings, serverSettings } from "./server-settings.js";

/** A tool of a server, under the name that a model calls it by. */
export interface McpTool extends ServerTool {
  readonly server: string;
  /** `mcp_<server>_<tool>`. */
  readonly calledAs: string;
  /** Never throws for what a server does: a result that failed says why. */
  run(args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Called>;
}

/** How a server is at present. */
export type ServerState =
  | { readonly name: string; readonly state: "connecting" }
  | { readonly name: string; readonly state: "failed"; readonly problem: string }
  | {
      readonly name: string;
      /** A lost one is reached again when one of its tools is called. */
      readonly state: "ready" | "lost";
      readonly tools: number;
      /** Estimated tokens that its tools take in each request. */
      readonly tokens: number;
    };

/** The MCP servers of a session. */
export interface McpServers {
  /** The tools of all servers that answered so far, in the order of the settings. */
  tools(): readonly McpTool[];
  states(): readonly ServerState[];
  /** Resolves once every server has answered or failed, after 10 seconds at most. */
  readonly settled: Promise<void>;
  /** Tries those again that failed or were lost. */
  again(): Promise<void>;
  /**
   * Tries those again in the background that never answered: a model knows no tool of theirs that it could call. Each
   * at most once a minute; the first success is told.
   */
  retryFailed(): void;
  close(): Promise<void>;
}

/** Milliseconds in which a server must have answered. */
const connectMs = 10_000;
/** Milliseconds between two attempts that nobody asked for. */
const retryMs = 60_000;

/** Characters of a name that all providers take. https://platform.openai.com/docs/guides/function-calling */
const maxName = 64;

/**
 * The name under which a model knows a tool of a server: `mcp_<server>_<tool>`, in letters that every provider takes,
 * at most 64 of them; a number is put behind a name that another tool in `taken` has.
 */
export function toolName(server: string, tool: string, taken: { has(name: string): boolean }): string {
  const name = `mcp_${server}_${tool}`.replace(/[^A-Za-z0-9_-]+/g, "_");
  for (let number = 1; ; number += 1) {
    const ending = number === 1 ? "" : `_${number}`;
    const candidate = name.slice(0, maxName - ending.length) + ending;
    if (!taken.has(candidate)) return candidate;
  }
}

/** Estimated tokens of what a request says of a tool. */
export const tokensOf = (tool: { readonly name: string; readonly description: string; readonly parameters: object }) =>
  estimateTokens(JSON.stringify([tool.name, tool.description, tool.parameters]));

/**
 * Starts or reaches all servers of `mcpServers` side by side, and waits for none. `say` is told one sentence of each
 * that fails.
 */
export function startServers(
  written: Readonly<Record<string, unknown>>,
  options: {
    readonly cwd: string;
    readonly env: NodeJS.ProcessEnv;
    readonly version: string;
    readonly say: (sentence: string) => void;
    readonly connectMs?: number;
    readonly retryMs?: number;
  },
): McpServers {
  const names = new Map<string, string>();
  const servers = Object.entries(written).map(([name, each]) =>
    oneServer(serverSettings(name, each, options.env), { connectMs, retryMs, ...options }, names),
  );
  const settled = Promise.all(servers.map((server) => server.connecting())).then(() => undefined);
  return {
    tools: () => servers.flatMap((server) => server.tools()),
    states: () => servers.map((server) => server.state()),
    settled,
    async again() {
      await Promise.all(servers.map((server) => server.again()));
    },
    retryFailed() {
      for (const server of servers) server.retryFailed();
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

interface OneServer {
  connecting(): Promise<void>;
  tools(): readonly McpTool[];
  state(): ServerState;
  again(): Promise<void>;
  retryFailed(): void;
  close(): Promise<void>;
}

function oneServer(
  settings: ServerSettings | ServerProblem,
  options: Parameters<typeof startServers>[1] & { readonly connectMs: number; readonly retryMs: number },
  names: Map<string, string>,
): OneServer {
  let connection: Connection | undefined;
  let tools: readonly McpTool[] = [];
  let problem = "problem" in settings ? settings.problem : "";
  const closing = new AbortController();
  /** Later attempts tell of themselves where they are asked for. */
  let wasTried = false;
  let attempt: Promise<void> | undefined;
  let triedAt = 0;

  const attach = async (): Promise<void> => {
    const isFirst = !wasTried;
    wasTried = true;
    triedAt = performance.now();
    if ("problem" in settings) return isFirst ? options.say(settings.problem) : undefined;
    await connection?.close();
    connection = undefined;
    problem = "";
    try {
      const reached = await connect(settings, { ...options, ms: options.connectMs, givenUp: closing.signal });
      if (closing.signal.aborted) return await reached.close();
      connection = reached;
      tools = offered(settings, reached.tools);
    } catch (error) {
      problem = messageOf(error);
      if (!closing.signal.aborted && isFirst) options.say(problem);
    }
  };
  /** One attempt at a time, however many calls wait for it. */
  const connecting = async (): Promise<void> => {
    attempt ??= attach().finally(() => (attempt = undefined));
    await attempt;
  };

  const offered = ({ name: server, picked }: ServerSettings, found: readonly ServerTool[]): McpTool[] => {
    const missing = (picked ?? []).filter((each) => !found.some(({ name }) => name === each));
    if (missing.length > 0) options.say(`The MCP server ${server} has no tool ${missing.join(", ")}.`);
    return found
      .filter(({ name }) => picked?.includes(name) ?? true)
      .map((tool) => {
        const key = JSON.stringify([server, tool.name]);
        const taken = new Set([...names].flatMap(([other, name]) => (other === key ? [] : [name])));
        const calledAs = names.get(key) ?? toolName(server, tool.name, taken);
        names.set(key, calledAs);
        return { ...tool, server, calledAs, run: async (args, signal) => await run(tool.name, args, signal) };
      });
  };

  const run = async (tool: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Called> => {
    for (let tried = 1; ; tried += 1) {
      if (connection?.isOpen() !== true) await connecting();
      if (connection === undefined) return { text: problem, failed: true };
      try {
        return await connection.call(tool, args, signal);
      } catch (error) {
        if (error instanceof NotReached && tried === 1) continue;
        const why = signal.aborted ? "was interrupted" : `failed: ${messageOf(error)}`;
        return { text: `The call of ${tool} ${why}`, failed: true };
      }
    }
  };

  return {
    connecting,
    tools: () => tools,
    state() {
      const { name } = settings;
      if (attempt !== undefined) return { name, state: "connecting" };
      if (connection === undefined) return { name, state: "failed", problem };
      const tokens = tools.reduce((sum, { calledAs, ...tool }) => sum + tokensOf({ ...tool, name: calledAs }), 0);
      return { name, state: connection.isOpen() ? "ready" : "lost", tools: tools.length, tokens };
    },
    async again() {
      if (connection?.isOpen() !== true) await connecting();
    },
    retryFailed() {
      const isFailed = connection === undefined && attempt === undefined && !("problem" in settings);
      if (!isFailed || closing.signal.aborted || performance.now() - triedAt < options.retryMs) return;
      void connecting().then(() => {
        if (connection !== undefined && !closing.signal.aborted)
          options.say(`The MCP server ${settings.name} answers now.`);
      });
    },
    async close() {
      closing.abort();
      await attempt;
      await connection?.close();
    },
  };
}
