import { acp } from "./acp/acp.js";
import { amp } from "./amp.js";
import { claude } from "./claude/claude.js";
import { codex } from "./codex/codex.js";
import type { AgentDefinition } from "./definition.js";
import { firstOnPath } from "./program.js";
import { ralph } from "./ralph.js";

/**
 * The engine's own adapters. No other code names them: to remove an adapter, delete its file or folder and its entry
 * here.
 */
export const adapters: readonly AgentDefinition[] = [claude, codex, amp, ralph, acp];

/** The agents of an adapter, by the names that `--agent` takes, and the program that each needs. */
export const agentsOf = ({
  name,
  program,
  knownAgents,
}: AgentDefinition): readonly { name: string; program?: string }[] =>
  knownAgents?.map((agent) => ({ name: `${name}:${agent.name}`, program: agent.program })) ?? [{ name, program }];

/** Agents whose program is in PATH, by the names that `--agent` takes. */
export const installedAgents = (env: NodeJS.ProcessEnv): readonly string[] =>
  adapters
    .flatMap(agentsOf)
    .filter(({ program }) => program !== undefined && firstOnPath(program, env) !== undefined)
    .map(({ name }) => name);
