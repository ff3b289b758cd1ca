import { isObject } from "../../engine/lib/json-fields.js";

/** The checked settings of one server of `mcpServers`, with its variables replaced. */
export interface ServerSettings {
  readonly name: string;
  readonly transport:
    | {
        readonly by: "stdio";
        readonly command: string;
        readonly args: readonly string[];
        readonly env: Readonly<Record<string, string>>;
      }
    | { readonly by: "http" | "sse"; readonly url: URL; readonly headers: Readonly<Record<string, string>> }
    /** A unix socket. It can't be set in files; a program in a sandbox uses it to reach the tools of its brief. */
    | { readonly by: "socket"; readonly path: string };
  /** The names of the tools that the model gets; undefined: all. */
  readonly pickedTools?: readonly string[];
}

/** Why a server can't be started, as a sentence. */
export interface ServerProblem {
  readonly name: string;
  readonly problem: string;
}

/** An invalid setting. Its message is the end of a sentence that begins with the name of the server. */
class InvalidSetting extends Error {}

/**
 * The settings of a server in the format of Claude Code and other clients: `command`, `args` and `env`, or `url`,
 * `headers` and `type` ("http", which is the default, or "sse"). `tools` selects some of its tools. `${VAR}` and
 * `${VAR:-default}` in a text are replaced by the value in `env`. https://docs.claude.com/en/docs/claude-code/mcp
 */
export function readServerSettings(
  name: string,
  config: unknown,
  env: NodeJS.ProcessEnv,
): ServerSettings | ServerProblem {
  try {
    if (!isObject(config)) throw new InvalidSetting("has no settings");
    const { command, url, type, tools } = config;
    const textOf = (key: string) => withVariables(config[key], key, env);
    const pickedTools = tools === undefined ? {} : { pickedTools: textsOf(tools, "tools", env) };
    if (command !== undefined && url !== undefined)
      throw new InvalidSetting("has both a command and a url; keep one of them");
    if (command !== undefined) {
      const transport = {
        by: "stdio" as const,
        command: textOf("command"),
        args: config["args"] === undefined ? [] : textsOf(config["args"], "args", env),
        env: fieldsOf(config["env"], "env", env),
      };
      return { name, transport, ...pickedTools };
    }
    if (url === undefined) throw new InvalidSetting("has neither a command nor a url");
    const address = textOf("url");
    if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
      throw new InvalidSetting("has a url that is not an http or https address");
    if (type !== undefined && type !== "http" && type !== "sse" && type !== "streamable-http")
      throw new InvalidSetting('has an unknown type; there are "http" and "sse"');
    const by = type === "sse" ? ("sse" as const) : ("http" as const);
    return {
      name,
      transport: { by, url: new URL(address), headers: fieldsOf(config["headers"], "headers", env) },
      ...pickedTools,
    };
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error;
    return { name, problem: `The MCP server ${name} ${error.message}.` };
  }
}

function textsOf(value: unknown, key: string, env: NodeJS.ProcessEnv): string[] {
  if (!Array.isArray(value)) throw new InvalidSetting(`needs a list of texts as ${key}`);
  return value.map((text) => withVariables(text, key, env));
}

function fieldsOf(value: unknown, key: string, env: NodeJS.ProcessEnv): Record<string, string> {
  if (value === undefined) return {};
  if (!isObject(value)) throw new InvalidSetting(`needs names with texts as ${key}`);
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, withVariables(text, key, env)]));
}

function withVariables(value: unknown, key: string, env: NodeJS.ProcessEnv): string {
  if (typeof value !== "string" || value === "") throw new InvalidSetting(`needs a text as ${key}`);
  if (value.includes("\0")) throw new InvalidSetting(`has a null byte in ${key}`);
  return value.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, defaultValue: string | undefined) => {
    const variable = env[name];
    if (variable !== undefined && (variable !== "" || defaultValue === undefined)) return variable;
    if (defaultValue === undefined) throw new InvalidSetting(`needs the variable ${name}, which is not set`);
    return defaultValue;
  });
}
