import { isObject } from "../../engine/lib/json-fields.js";
/** The checked settings of one server of `mcpServers`, with its variables replaced. */
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
    /** A unix socket, which is not set in files: with it, a sandbox reaches the server of a brief's tools. */
    | { readonly by: "socket"; readonly path: string };
  /** The names of the tools that the model gets; undefined: all. */
  readonly picked?: readonly string[];
}

/** Why a server can't be started, as a sentence. */
export interface ServerProblem {
  readonly name: string;
  readonly problem: string;
}

/** An invalid setting. Its message is the end of a sentence. */
class Wrong extends Error {}

/**
 * The settings of a server in the format of Claude Code and other clients: `command`, `args` and `env`, or `url`,
 * `headers` and `type` ("http", which is the default, or "sse"). `tools` picks some of its tools. `${VAR}` and
 * `${VAR:-default}` are replaced from `env` in every text. https://docs.claude.com/en/docs/claude-code/mcp
 */
export function serverSettings(name: string, config: unknown, env: NodeJS.ProcessEnv): ServerSettings | ServerProblem {
  try {
    if (!isObject(config)) throw new Wrong("holds no settings");
    const { command, url, type, tools } = config;
    const textOf = (key: string) => withVariables(config[key], key, env);
    const pickedTools = tools === undefined ? {} : { picked: textsOf(tools, "tools", env) };
    if (command !== undefined && url !== undefined) throw new Wrong("has both a command and a url; keep one of them");
    if (command !== undefined) {
      const reached = {
        by: "stdio" as const,
        command: textOf("command"),
        args: config["args"] === undefined ? [] : textsOf(config["args"], "args", env),
        env: fieldsOf(config["env"], "env", env),
      };
      return { name, reached, ...pickedTools };
    }
    if (url === undefined) throw new Wrong("has neither a command nor a url");
    const address = textOf("url");
    if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
      throw new Wrong("has a url that is not an http or https address");
    if (type !== undefined && type !== "http" && type !== "sse" && type !== "streamable-http")
      throw new Wrong('has an unknown type; there are "http" and "sse"');
    const by = type === "sse" ? ("sse" as const) : ("http" as const);
    return {
      name,
      reached: { by, url: new URL(address), headers: fieldsOf(config["headers"], "headers", env) },
      ...pickedTools,
    };
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    return { name, problem: `The MCP server ${name} ${error.message}.` };
  }
}

function textsOf(value: unknown, key: string, env: NodeJS.ProcessEnv): string[] {
  if (!Array.isArray(value)) throw new Wrong(`needs a list of texts as ${key}`);
  return value.map((text) => withVariables(text, key, env));
}

function fieldsOf(value: unknown, key: string, env: NodeJS.ProcessEnv): Record<string, string> {
  if (value === undefined) return {};
  if (!isObject(value)) throw new Wrong(`needs names with texts as ${key}`);
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, withVariables(text, key, env)]));
}

function withVariables(value: unknown, key: string, env: NodeJS.ProcessEnv): string {
  if (typeof value !== "string" || value === "") throw new Wrong(`needs a text as ${key}`);
  if (value.includes("\0")) throw new Wrong(`has a null byte in ${key}`);
  return value.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, defaultValue: string | undefined) => {
    const variable = env[name];
    if (variable !== undefined && (variable !== "" || defaultValue === undefined)) return variable;
    if (defaultValue === undefined) throw new Wrong(`needs the variable ${name}, which is not set`);
    return defaultValue;
  });
}
