import { instructionsFor } from "../engine/agents/program.js";
import type { Clock } from "../engine/lib/clock.js";
import { ExpectedError, messageOf } from "../engine/lib/errors.js";
import type { Failure } from "../engine/loop/types.js";
import { keyRoutesVariable } from "../engine/process/reach.js";
import type { Exec } from "../engine/process/run-process.js";
import { converse } from "./converse.js";
import { modelFetch, usualClocks } from "./model/fetch.js";
import { type Asked, isOwnOllama, keyFileProblems, settingsOf } from "./settings.js";
import { type AssistantTool, type Handed, toolContext, type ToolContext } from "./tools/context.js";
import { briefTools } from "./tools/list.js";

/** What `ralph --headless` is started with. */
export interface Headless extends Omit<Asked, "cwd"> {
  /** The user's folder, whose configuration counts. */
  readonly folder: string;
  /** The folder that the brief speaks of. */
  readonly workspace: string;
  /** It may read files of the workspace. */
  readonly reads: boolean;
  /** Runs its commands, where it may change files and run any: something else confines it then. */
  readonly exec?: Exec;
  /** It may fetch what stands in the public web. */
  readonly web?: boolean;
  /** Flags that say which of research-ralph's tools the brief names. */
  readonly toolbox?: readonly string[];
  /** In a sandbox: the socket of the server that has those tools. */
  readonly toolSocket?: string;
  readonly version: string;
  readonly handed: Handed;
  readonly brief: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly fetch?: typeof globalThis.fetch;
  /** Writes one JSON object as a line. */
  readonly write: (line: object) => void;
}

/** Most requests of an iteration that works on files. */
const workRounds = 500;

/** Milliseconds that a service may ask to wait; after a longer wait the loop's own patience decides. */
const maxWaitMs = 60_000;

/**
 * Answers one brief for the loop: one request where no file has to be read. Writes, a line each: `start` with model,
 * provider and window; `tool`, `notice` and `usage` as they come; at the end `end` with the message or the failure.
 * Nothing of the user's own is loaded: no PROMPT.md, no memory, no server.
 */
export async function headless(asked: Headless): Promise<number> {
  const { write, clock, signal, brief } = asked;
  let server: ToolConnection | undefined;
  const works = asked.exec !== undefined;
  try {
    const fetch = byKeyRoutes(asked.fetch ?? modelFetch(usualClocks), asked.env);
    const settings = await settingsOf({ ...asked, fetch, cwd: asked.folder, uses: Object.keys(asked.keys.apart) });
    const { provider, url, model, key, window } = settings;
    write({ type: "start", provider: provider.name, model, window, ...(isOwnOllama(url) ? { cost_usd: 0 } : {}) });
    for (const message of await keyFileProblems(settings, false)) write({ type: "notice", message });
    const opened = await provider.open({ url, model, fetch, key });
    if (asked.toolSocket !== undefined) server = await toolsAt(asked.toolSocket, asked);
    const spoken = await converse({
      model: opened,
      settings,
      system: instructionsFor({ shell: works }),
      messages: [{ role: "user", content: brief }],
      tools: briefTools({ reads: asked.reads, works, web: asked.web === true }, contextOf(asked, window), [
        ...(asked.toolbox === undefined ? [] : await asked.handed.briefTools(asked.toolbox)),
        ...(server?.tools ?? []),
      ]),
      clock,
      signal,
      maxWaitMs,
      // The time and the tokens of an iteration bound its work.
      ...(works ? { maxRounds: workRounds } : {}),
      tell: (said) => {
        if (said.type === "again") write({ type: "notice", message: said.reason });
        else if (said.type === "tool" || said.type === "usage") write(said);
      },
    });
    return finish(write, "failure" in spoken ? spoken.failure : spoken.message);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    // A setting that is missing or wrong is for a person to mend.
    return finish(write, { kind: "auth", message: messageOf(error) });
  } finally {
    await server?.close();
  }
}

interface ToolConnection {
  readonly tools: readonly AssistantTool[];
  close(): Promise<void>;
}

/** Milliseconds in which the server of a brief's tools must have answered. */
const connectMs = 10_000;

/**
 * The tools of a server at a unix socket, under the names that the brief calls them by. Where it does not answer, the
 * brief is answered without them.
 */
async function toolsAt(
  path: string,
  { version, env, workspace, write }: Headless,
): Promise<ToolConnection | undefined> {
  const [{ connect }, { mcpTool }] = await Promise.all([import("./mcp/connection.js"), import("./mcp/as-tools.js")]);
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

/**
 * In a sandbox the key stays outside: what is meant for a host that has a route there is sent to the route, which adds
 * the key.
 */
function byKeyRoutes(fetch: typeof globalThis.fetch, env: NodeJS.ProcessEnv): typeof globalThis.fetch {
  const routes = JSON.parse(env[keyRoutesVariable] ?? "{}") as Readonly<Record<string, string>>;
  return async (input, init) => {
    const meant = new URL(input instanceof Request ? input.url : input);
    const route = routes[meant.origin];
    return await fetch(route === undefined ? input : `${route}${meant.pathname}${meant.search}`, init);
  };
}

/** What the tools of a brief can reach: those of work change files and run commands, all others only read. */
const contextOf = ({ workspace, handed, env, exec }: Headless, window: number): ToolContext =>
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

function finish(write: Headless["write"], end: string | Failure): number {
  write(typeof end === "string" ? { type: "end", message: end } : { type: "end", failure: end });
  return typeof end === "string" ? 0 : 1;
}
