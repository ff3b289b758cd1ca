import { namesSecret } from "../../lib/redact.js";
import type { ToolServer } from "../../loop/types.js";

/**
 * What agents know the server by: Claude Code calls its tools mcp__rr__outline, and every letter is paid for in each
 * request.
 */
export const serverName = "rr";

/**
 * The command of the server for a CLI that hands on the whole of `env`, without the secrets in it that the server has
 * no use for. Only names are in the command line; other processes can read that.
 */
export function withoutSecrets(
  { command, args, env: needed }: ToolServer,
  env: NodeJS.ProcessEnv,
): { command: string; args: string[] } {
  const secrets = Object.keys(env).filter((name) => namesSecret(name) && !needed.includes(name));
  return { command: "env", args: [...secrets.flatMap((name) => ["-u", name]), command, ...args] };
}
