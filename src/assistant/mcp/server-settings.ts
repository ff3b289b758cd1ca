import { isObject } from "../../engine/lib/json-fields.js";
/** One server of `mcpServers`, checked and with its variables filled in. */
export interface ServerSettings {
  readonly name: string;
  readonly reached:
    | {
        readonly by: "stdio";
        readonly command: string;
        readonly args: readonly string[];
        readonly env: Readonly<Record<string, string>>;
      }
    | { readonly by: "http" | "sse"; readonly url: URL; readonly headers: Readonly<Record<string, string>> }
    /** A unix socket, which no file of settings names: a sandbox's way to the server of a brief's tools. */
    | { readonly by: "socket"; readonly path: string };
  /** Names of the only tools of it that the model gets; undefined: all. */
  readonly picked?: readonly string[];
}

/** Why a server can't be started, as one sentence. */
export interface ServerProblem {
  readonly name: string;
  readonly problem: string;
}

/** A setting that is wrong; its message is the end of a sentence. */
class Wrong extends Error {}

/**
 * The settings of a server as Claude Code's and other clients' files have them: `command`, `args` and `env`, or `url`,
 * `headers` and `type` ("http" where nothing is said, "sse"). `tools` picks some of its tools. `${VAR}` and
 * `${VAR:-default}` are taken from `env` in every text. https://docs.claude.com/en/docs/claude-code/mcp
 */
export function serverSettings(name: string, written: unknown, env: NodeJS.ProcessEnv): ServerSettings | ServerProblem {
  try {
    if (!isObject(written)) throw new Wrong("holds no settings");
    const { command, url, type, tools } = written;
    const filled = (key: string) => filledIn(written[key], key, env);
    const picked = tools === undefined ? {} : { picked: textsOf(tools, "tools", env) };
    if (command !== undefined && url !== undefined) throw new Wrong("has both a command and a url; keep one of them");
    if (command !== undefined) {
      const reached = {
        by: "stdio" as const,
        command: filled("command"),
        args: written["args"] === undefined ? [] : textsOf(written["args"], "args", env),
        env: fieldsOf(written["env"], "env", env),
      };
      return { name, reached, ...picked };
    }
    if (url === undefined) throw new Wrong("has neither a command nor a url");
    const address = filled("url");
    if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
      throw new Wrong("has a url that is not an http or https address");
    if (type !== undefined && type !== "http" && type !== "sse" && type !== "streamable-http")
      throw new Wrong('has an unknown type; there are "http" and "sse"');
    const by = type === "sse" ? ("sse" as const) : ("http" as const);
    return {
      name,
      reached: { by, url: new URL(address), headers: fieldsOf(written["headers"], "headers", env) },
      ...picked,
    };
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    return { name, problem: `The MCP server ${name} ${error.message}.` };
  }
}

function textsOf(value: unknown, key: string, env: NodeJS.ProcessEnv): string[] {
  if (!Array.isArray(value)) throw new Wrong(`needs a list of texts as ${key}`);
  return value.map((each) => filledIn(each, key, env));
}

function fieldsOf(value: unknown, key: string, env: NodeJS.ProcessEnv): Record<string, string> {
  if (value === undefined) return {};
  if (!isObject(value)) throw new Wrong(`needs names with texts as ${key}`);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filledIn(each, key, env)]));
}

function filledIn(value: unknown, key: string, env: NodeJS.ProcessEnv): string {
  if (typeof value !== "string" || value === "") throw new Wrong(`needs a text as ${key}`);
  if (value.includes("\0")) throw new Wrong(`has a null byte in ${key}`);
  return value.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, otherwise: string | undefined) => {
    const there = env[name];
    if (there !== undefined && (there !== "" || otherwise === undefined)) return there;
    if (otherwise === undefined) throw new Wrong(`needs the variable ${name}, which is not set`);
    return otherwise;
  });
}
