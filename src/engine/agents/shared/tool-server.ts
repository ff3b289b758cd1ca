import { isSecretName } from "../../lib/redact.js";
import type { ToolServer } from "../../loop/types.js";

/**
 * The name of the tool server for agents. The name is short, because it is part of every tool name (Claude Code:
 * mcp__rr__outline) and costs tokens in each request.
 */
export const serverName = "rr";

/**
 * The command that starts the tool server, for a CLI that passes its whole environment to the server. `env -u` removes
 * the secrets that the server does not need. The command contains only names of variables, because other processes can
 * read a command line.
 */
export function commandWithoutSecrets(
  { command, args, env: neededNames }: ToolServer,
  env: NodeJS.ProcessEnv,
): { command: string; args: string[] } {
  const secrets = Object.keys(env).filter((name) => isSecretName(name) && !neededNames.includes(name));
  return { command: "env", args: [...secrets.flatMap((name) => ["-u", name]), command, ...args] };
}
