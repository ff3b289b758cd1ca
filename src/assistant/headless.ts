import { instructionsFor } from "../engine/agents/program.js";
import type { Clock } from "../engine/lib/clock.js";
import { ExpectedError, messageOf } from "../engine/lib/errors.js";
import type { Failure } from "../engine/loop/types.js";
import { keyRoutesVariable } from "../engine/process/access.js";
import type { Exec } from "../engine/process/run-process.js";
import { converse } from "./converse.js";
import { modelFetch, defaultTimeouts } from "./model/fetch.js";
import { type SettingsRequest, isFree, keyFileProblems, settingsOf } from "./settings.js";
import { type AssistantTool, type ProgramServices, toolContext, type ToolContext } from "./tools/context.js";
import { briefTools } from "./tools/list.js";

/** The options of `ralph --headless`. */
export interface HeadlessOptions extends Omit<SettingsRequest, "cwd"> {
  /** The user's folder, from which the configuration is read. */
  readonly folder: string;
  /** The working folder of the brief. */
  readonly workspace: string;
  /** The agent may read files of the workspace. */
  readonly canRead: boolean;
  /** Runs commands. If it is set, the agent may change files and run commands; the caller must confine this process. */
  readonly exec?: Exec;
  /** The agent may fetch public web pages. */
  readonly canFetch?: boolean;
  /** Flags that name the tools of research-ralph for this brief. */
  readonly toolbox?: readonly string[];
  /** In a sandbox: the path of the socket of the server with these tools. */
  readonly toolSocket?: string;
  readonly version: string;
  readonly services: ProgramServices;
  readonly brief: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly fetch?: typeof globalThis.fetch;
  /** Writes a JSON object as a line. */
  readonly write: (line: object) => void;
}

/** Maximum number of requests for an agent that works on files. */
const maxWorkRequests = 500;

/** Maximum milliseconds of a wait for the service. If the service asks for a longer one, the loop decides. */
const maxWaitMs = 60_000;

/**
 * Answers one brief for the loop. Writes a line for each event: first `start` with model, provider and window; then
 * `tool`, `notice` and `usage`; at last `end` with the message or the failure. The user's PROMPT.md, memory and MCP
 * servers are not used.
 */
export async function headless(options: HeadlessOptions): Promise<number> {
  const { write, clock, signal, brief } = options;
  let server: ToolConnection | undefined;
  const canWork = options.exec !== undefined;
  try {
    const fetch = withKeyRoutes(options.fetch ?? modelFetch(defaultTimeouts), options.env);
    const settings = await settingsOf({
      ...options,
      fetch,
      cwd: options.folder,
      usedKeys: Object.keys(options.keys.fileOnly),
    });
    const { provider, url, model, key, window } = settings;
    write({ type: "start", provider: provider.name, model, window, ...(isFree(settings) ? { cost_usd: 0 } : {}) });
    for (const message of await keyFileProblems(settings, false)) write({ type: "notice", message });
    const languageModel = await provider.open({ url, model, fetch, key });
    if (options.toolSocket !== undefined) server = await connectTools(options.toolSocket, options);
    const result = await converse({
      model: languageModel,
      settings,
      system: instructionsFor({ shell: canWork }),
      messages: [{ role: "user", content: brief }],
      tools: briefTools(
        { canRead: options.canRead, canWork, canFetch: options.canFetch === true },
        contextOf(options, window),
        [
          ...(options.toolbox === undefined ? [] : await options.services.briefTools(options.toolbox)),
          ...(server?.tools ?? []),
        ],
      ),
      clock,
      signal,
      maxWaitMs,
      // The work usually ends before, by the iteration's limits of time and tokens.
      ...(canWork ? { maxRounds: maxWorkRequests } : {}),
      tell: (event) => {
        if (event.type === "retry") write({ type: "notice", message: event.reason });
        else if (event.type === "tool" || event.type === "usage") write(event);
      },
    });
    return writeEnd(write, "failure" in result ? result.failure : result.message);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    // A person must correct a missing or invalid setting.
    return writeEnd(write, { kind: "auth", message: messageOf(error) });
  } finally {
    await server?.close();
  }
}

interface ToolConnection {
  readonly tools: readonly AssistantTool[];
  close(): Promise<void>;
}

/** Maximum milliseconds until the server with the tools of the brief answers. */
const connectTimeoutMs = 10_000;

/**
 * Connects to the server at a unix socket. Its tools keep their names, because the brief mentions them. If the server
 * does not answer, the brief is answered without them.
 */
async function connectTools(
  path: string,
  { version, env, workspace, write }: HeadlessOptions,
): Promise<ToolConnection | undefined> {
  const [{ connect }, { mcpTool }] = await Promise.all([import("./mcp/connection.js"), import("./mcp/servers.js")]);
  try {
    const settings = { name: "of the project", transport: { by: "socket", path } } as const;
    const { tools, call, close } = await connect(settings, { cwd: workspace, env, version, ms: connectTimeoutMs });
    const run = async (name: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal) =>
      await call(name, args, signal).catch((error: unknown) => ({ text: messageOf(error), failed: true }));
    return {
      tools: tools.map((tool) =>
        mcpTool({ ...tool, modelName: tool.name, run: async (args, stop) => await run(tool.name, args, stop) }),
      ),
      close,
    };
  } catch (error) {
    write({ type: "notice", message: `${messageOf(error)} The brief is answered without its tools.` });
    return undefined;
  }
}

/** In a sandbox, the key stays outside: requests to a host with a route are sent to that route, which adds the key. */
function withKeyRoutes(fetch: typeof globalThis.fetch, env: NodeJS.ProcessEnv): typeof globalThis.fetch {
  const routes = JSON.parse(env[keyRoutesVariable] ?? "{}") as Readonly<Record<string, string>>;
  return async (input, init) => {
    const target = new URL(input instanceof Request ? input.url : input);
    const route = routes[target.origin];
    return await fetch(route === undefined ? input : `${route}${target.pathname}${target.search}`, init);
  };
}

/**
 * The context of a brief's tools. If `exec` is set, they can change files and run commands; else they can only read.
 */
const contextOf = ({ workspace, services, env, exec }: HeadlessOptions, window: number): ToolContext =>
  toolContext({
    root: workspace,
    window,
    env,
    exec:
      exec ??
      (() => {
        throw new Error("This brief's tools run no program.");
      }),
    memory: async () => "A brief has no memory.",
    http: services.http,
    readDocument: services.readDocument,
    ask: async () => (exec === undefined ? "no" : "yes"),
  });

function writeEnd(write: HeadlessOptions["write"], end: string | Failure): number {
  write(typeof end === "string" ? { type: "end", message: end } : { type: "end", failure: end });
  return typeof end === "string" ? 0 : 1;
}
