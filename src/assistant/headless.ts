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
  readonly reads: boolean;
  /** Runs commands. If it is set, the agent may change files and run commands: then something else confines it. */
  readonly exec?: Exec;
  /** The agent may fetch public web pages. */
  readonly web?: boolean;
  /** Flags that name the tools of research-ralph for this brief. */
  readonly toolbox?: readonly string[];
  /** In a sandbox: the socket of the server with those tools. */
  readonly toolSocket?: string;
  readonly version: string;
  readonly handed: ProgramServices;
  readonly brief: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly fetch?: typeof globalThis.fetch;
  /** Writes a JSON object as a line. */
  readonly write: (line: object) => void;
}

/** Maximum number of requests for an agent that works on files. */
const maxWorkRequests = 500;

/** Maximum milliseconds of a wait for the service. For a longer wait, the loop decides. */
const maxWaitMs = 60_000;

/**
 * Answers one brief for the loop. Writes a line for each event: first `start` with model, provider and window; then
 * `tool`, `notice` and `usage`; at last `end` with the message or the failure. Nothing of the user is loaded: no
 * PROMPT.md, no memory, no server.
 */
export async function headless(asked: HeadlessOptions): Promise<number> {
  const { write, clock, signal, brief } = asked;
  let server: ToolConnection | undefined;
  const canWork = asked.exec !== undefined;
  try {
    const fetch = withKeyRoutes(asked.fetch ?? modelFetch(defaultTimeouts), asked.env);
    const settings = await settingsOf({ ...asked, fetch, cwd: asked.folder, uses: Object.keys(asked.keys.fileOnly) });
    const { provider, url, model, key, window } = settings;
    write({ type: "start", provider: provider.name, model, window, ...(isFree(settings) ? { cost_usd: 0 } : {}) });
    for (const message of await keyFileProblems(settings, false)) write({ type: "notice", message });
    const languageModel = await provider.open({ url, model, fetch, key });
    if (asked.toolSocket !== undefined) server = await connectTools(asked.toolSocket, asked);
    const result = await converse({
      model: languageModel,
      settings,
      system: instructionsFor({ shell: canWork }),
      messages: [{ role: "user", content: brief }],
      tools: briefTools({ reads: asked.reads, works: canWork, web: asked.web === true }, contextOf(asked, window), [
        ...(asked.toolbox === undefined ? [] : await asked.handed.briefTools(asked.toolbox)),
        ...(server?.tools ?? []),
      ]),
      clock,
      signal,
      maxWaitMs,
      // The iteration's limits of time and tokens end its work.
      ...(canWork ? { maxRounds: maxWorkRequests } : {}),
      tell: (event) => {
        if (event.type === "again") write({ type: "notice", message: event.reason });
        else if (event.type === "tool" || event.type === "usage") write(event);
      },
    });
    return finish(write, "failure" in result ? result.failure : result.message);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    // A person must correct a missing or invalid setting.
    return finish(write, { kind: "auth", message: messageOf(error) });
  } finally {
    await server?.close();
  }
}

interface ToolConnection {
  readonly tools: readonly AssistantTool[];
  close(): Promise<void>;
}

/** Maximum milliseconds until the server of a brief's tools answers. */
const connectMs = 10_000;

/**
 * The tools of a server at a unix socket, under their names in the brief. If the server does not answer, the brief is
 * answered without them.
 */
async function connectTools(
  path: string,
  { version, env, workspace, write }: HeadlessOptions,
): Promise<ToolConnection | undefined> {
  const [{ connect }, { mcpTool }] = await Promise.all([import("./mcp/connection.js"), import("./mcp/servers.js")]);
  try {
    const settings = { name: "of the project", reached: { by: "socket", path } } as const;
    const { tools, call, close } = await connect(settings, { cwd: workspace, env, version, ms: connectMs });
    const run = async (name: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal) =>
      await call(name, args, signal).catch((error: unknown) => ({ text: messageOf(error), failed: true }));
    return {
      tools: tools.map((tool) =>
        mcpTool({
          ...tool,
          server: "",
          calledAs: tool.name,
          run: async (args, stop) => await run(tool.name, args, stop),
        }),
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
const contextOf = ({ workspace, handed, env, exec }: HeadlessOptions, window: number): ToolContext =>
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
    http: handed.http,
    readDocument: handed.readDocument,
    ask: async () => (exec === undefined ? "no" : "yes"),
  });

function finish(write: HeadlessOptions["write"], end: string | Failure): number {
  write(typeof end === "string" ? { type: "end", message: end } : { type: "end", failure: end });
  return typeof end === "string" ? 0 : 1;
}
