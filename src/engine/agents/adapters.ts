import { acp } from "./acp/acp.js";
import { amp } from "./amp.js";
import { claude } from "./claude/claude.js";
import { codex } from "./codex/codex.js";
import type { AgentDefinition } from "./definition.js";
import { firstOnPath } from "./program.js";
import { ralph } from "./ralph.js";

/**
 * The engine's own adapters, named nowhere else in the code. Taking one away takes its file or folder, and its lines
 * here.
 */
export const adapters: readonly AgentDefinition[] = [claude, codex, amp, ralph, acp];

/** The agents that an adapter stands for, as `--agent` names them, and the program that each needs. */
export const namedBy = ({ name, program, known }: AgentDefinition): readonly { name: string; program?: string }[] =>
  known?.map((one) => ({ name: `${name}:${one.name}`, program: one.program })) ?? [{ name, program }];

/** Agents whose own program stands in the user's PATH, as `--agent` names them. */
export const installedAgents = (env: NodeJS.ProcessEnv): readonly string[] =>
  adapters
    .flatMap(namedBy)
    .filter(({ program }) => program !== undefined && firstOnPath(program, env) !== undefined)
    .map(({ name }) => name);
