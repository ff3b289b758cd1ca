import { isSecretName } from "../../lib/redact.js";
import type { ToolServer } from "../../loop/types.js";

/**
 * The name of the tool server for agents. Short, because it is part of every tool name (Claude Code: mcp__rr__outline)
 * and costs tokens in each request.
 */
export const serverName = "rr";

/**
 * The command of the server for a CLI that passes its whole environment on. `env -u` removes the secrets that the
 * server does not need. The command contains only names of variables, because other processes can read a command line.
 */
export function withoutSecrets(
  { command, args, env: neededNames }: ToolServer,
  env: NodeJS.ProcessEnv,
): { command: string; args: string[] } {
  const secrets = Object.keys(env).filter((name) => isSecretName(name) && !neededNames.includes(name));
  return { command: "env", args: [...secrets.flatMap((name) => ["-u", name]), command, ...args] };
}
