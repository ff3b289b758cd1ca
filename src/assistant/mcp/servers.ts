import { messageOf } from "../../engine/lib/errors.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { type CallResult, connect, type Connection, NotReached, type ServerTool } from "./connection.js";
import { type ServerProblem, type ServerSettings, readServerSettings } from "./server-settings.js";
import { type Parameters as ToolParameters, toolFailure } from "../../engine/tools/tool.js";
import type { AssistantTool } from "../tools/context.js";

/** A tool of a server, with the name that the model uses. */
export interface McpTool extends ServerTool {
  /** `mcp_<server>_<tool>`. */
  readonly modelName: string;
  /** Never throws for errors of the server: a failed result contains the reason. */
  run(args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<CallResult>;
}

/** The current state of a server. */
export type ServerState =
  | { readonly name: string; readonly state: "connecting" }
  | { readonly name: string; readonly state: "failed"; readonly problem: string }
  | {
      readonly name: string;
      /** `lost`: the connection broke; the next call of one of its tools connects again. */
      readonly state: "ready" | "lost";
      readonly tools: number;
      /** Estimated tokens of its tools in each request. */
      readonly tokens: number;
    };

/** The MCP servers of a session. */
export interface McpServers {
  /** The tools of all servers that have answered, in the order of the settings. */
  tools(): readonly McpTool[];
  states(): readonly ServerState[];
  /** Resolves when every server has answered or failed, after at most 10 seconds. */
  readonly firstTries: Promise<void>;
  /** Tries to connect again to the servers that failed or were lost. */
  reconnectAll(): Promise<void>;
  /**
   * Tries in the background to connect to servers that have not answered yet, because the model can't call their tools.
   * It tries each at most once a minute and reports the first success.
   */
  retryFailed(): void;
  close(): Promise<void>;
}

/** Maximum milliseconds until a server answers. */
const connectTimeoutMs = 10_000;
/** Minimum milliseconds between two tries in the background. */
const minRetryIntervalMs = 60_000;

/** Maximum length of a tool's name for all providers. https://platform.openai.com/docs/guides/function-calling */
const maxNameChars = 64;

/**
 * The model's name for a tool of a server: `mcp_<server>_<tool>`, with characters that every provider accepts, at most
 * 64. If the name is in `taken`, a number is appended.
 */
export function toolName(server: string, tool: string, taken: { has(name: string): boolean }): string {
  const name = `mcp_${server}_${tool}`.replace(/[^A-Za-z0-9_-]+/g, "_");
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? "" : `_${number}`;
    const candidate = name.slice(0, maxNameChars - suffix.length) + suffix;
    if (!taken.has(candidate)) return candidate;
  }
}

/** Estimated tokens of a tool's description in a request. */
const tokensOf = (tool: { readonly name: string; readonly description: string; readonly parameters: object }) =>
  estimateTokens(JSON.stringify([tool.name, tool.description, tool.parameters]));

/**
 * Starts or connects to all servers of `mcpServers` in parallel and waits for none. `say` is called with a sentence for
 * each that fails.
 */
export function startServers(
  serverConfigs: Readonly<Record<string, unknown>>,
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
  const servers = Object.entries(serverConfigs).map(([name, config]) =>
    connectServer(
      readServerSettings(name, config, options.env),
      { connectMs: connectTimeoutMs, retryMs: minRetryIntervalMs, ...options },
      names,
    ),
  );
  const settled = Promise.all(servers.map((server) => server.connect())).then(() => undefined);
  return {
    tools: () => servers.flatMap((server) => server.tools()),
    states: () => servers.map((server) => server.state()),
    firstTries: settled,
    async reconnectAll() {
      await Promise.all(servers.map((server) => server.reconnectIfLost()));
    },
    retryFailed() {
      for (const server of servers) server.retryFailed();
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

interface ServerConnection {
  connect(): Promise<void>;
  tools(): readonly McpTool[];
  state(): ServerState;
  reconnectIfLost(): Promise<void>;
  retryFailed(): void;
  close(): Promise<void>;
}

function connectServer(
  settings: ServerSettings | ServerProblem,
  options: Parameters<typeof startServers>[1] & { readonly connectMs: number; readonly retryMs: number },
  names: Map<string, string>,
): ServerConnection {
  let connection: Connection | undefined;
  let tools: readonly McpTool[] = [];
  let problem = "problem" in settings ? settings.problem : "";
  const closeController = new AbortController();
  /** Only the first try reports an error to the user. */
  let wasTriedBefore = false;
  let attempt: Promise<void> | undefined;
  let triedAt = 0;

  const reconnect = async (): Promise<void> => {
    const isFirst = !wasTriedBefore;
    wasTriedBefore = true;
    triedAt = performance.now();
    if ("problem" in settings) return isFirst ? options.say(settings.problem) : undefined;
    await connection?.close();
    connection = undefined;
    problem = "";
    try {
      const newConnection = await connect(settings, {
        ...options,
        ms: options.connectMs,
        stopSignal: closeController.signal,
      });
      if (closeController.signal.aborted) return await newConnection.close();
      connection = newConnection;
      tools = toolsOf(settings, newConnection.tools);
    } catch (error) {
      problem = messageOf(error);
      if (!closeController.signal.aborted && isFirst) options.say(problem);
    }
  };
  /** Connects. If a try is already running, waits for that one. */
  const connectOnce = async (): Promise<void> => {
    attempt ??= reconnect().finally(() => (attempt = undefined));
    await attempt;
  };

  const toolsOf = ({ name: server, pickedTools }: ServerSettings, serverTools: readonly ServerTool[]): McpTool[] => {
    const missingTools = (pickedTools ?? []).filter((toolName) => !serverTools.some(({ name }) => name === toolName));
    if (missingTools.length > 0) options.say(`The MCP server ${server} has no tool ${missingTools.join(", ")}.`);
    return serverTools
      .filter(({ name }) => pickedTools?.includes(name) ?? true)
      .map((tool) => {
        const key = JSON.stringify([server, tool.name]);
        const takenNames = new Set([...names].flatMap(([otherKey, name]) => (otherKey === key ? [] : [name])));
        const modelName = names.get(key) ?? toolName(server, tool.name, takenNames);
        names.set(key, modelName);
        return { ...tool, modelName, run: async (args, signal) => await run(tool.name, args, signal) };
      });
  };

  const run = async (
    tool: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<CallResult> => {
    for (let tryNumber = 1; ; tryNumber += 1) {
      if (connection?.isOpen() !== true) await connectOnce();
      if (connection === undefined) return { text: problem, failed: true };
      try {
        return await connection.call(tool, args, signal);
      } catch (error) {
        if (error instanceof NotReached && tryNumber === 1) continue;
        const reason = signal.aborted ? "was interrupted" : `failed: ${messageOf(error)}`;
        return { text: `The call of ${tool} ${reason}`, failed: true };
      }
    }
  };

  return {
    connect: connectOnce,
    tools: () => tools,
    state() {
      const { name } = settings;
      if (attempt !== undefined) return { name, state: "connecting" };
      if (connection === undefined) return { name, state: "failed", problem };
      const tokens = tools.reduce((sum, { modelName, ...tool }) => sum + tokensOf({ ...tool, name: modelName }), 0);
      return { name, state: connection.isOpen() ? "ready" : "lost", tools: tools.length, tokens };
    },
    async reconnectIfLost() {
      if (connection?.isOpen() !== true) await connectOnce();
    },
    retryFailed() {
      const isFailed = connection === undefined && attempt === undefined && !("problem" in settings);
      if (!isFailed || closeController.signal.aborted || performance.now() - triedAt < options.retryMs) return;
      void connectOnce().then(() => {
        if (connection !== undefined && !closeController.signal.aborted)
          options.say(`The MCP server ${settings.name} answers now.`);
      });
    },
    async close() {
      closeController.abort();
      await attempt;
      await connection?.close();
    },
  };
}

/**
 * Makes a server's tool a tool of the assistant. Unless the server says that the tool is read-only, the user is asked
 * before each call.
 */
export function mcpTool({ modelName, description, parameters, isReadOnly, run }: McpTool): AssistantTool {
  // The server checks the arguments itself. Its schema may be in a dialect that this program can't check.
  const { $schema: _, ...schema } = parameters as { readonly $schema?: string };
  const tool: AssistantTool<Readonly<Record<string, unknown>>> = {
    name: modelName,
    description,
    effects: [isReadOnly ? "reads" : "runs"],
    parameters: { additionalProperties: true, properties: {}, ...schema, type: "object" } as ToolParameters,
    async run(args, _context, signal) {
      const { text, failed } = await run(args, signal);
      return failed ? toolFailure("MCP_ERROR", text) : { success: true, content: text };
    },
  };
  return tool as AssistantTool;
}
