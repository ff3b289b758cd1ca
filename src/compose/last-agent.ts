import { join } from "node:path";
import { installedAgents } from "../engine/agents/adapters.js";
import { keepTrust, type TrustedPart, untrusted } from "../engine/config/trust.js";
import { ledgerName } from "../engine/lib/layout.js";
import type { Io } from "../engine/ui/io.js";
import { readResearch } from "../research/project-files/research.js";
import type { ResolvedConfig } from "./config.js";

/**
 * The settings for a project, with the agent that did its last accepted work if the user chose none. A project may come
 * from somebody else, so a command is used again only if the user typed it for this project.
 */
export async function withLastAgent(
  config: ResolvedConfig,
  folder: string | undefined,
  { env }: Pick<Io, "env">,
): Promise<ResolvedConfig> {
  if (config.origins.agent !== "default" || folder === undefined) return config;
  const agent = (await readResearch(folder)).ledger.findLast((line) => line.outcome === "accepted")?.agent;
  if (agent === undefined || agent === config.agent) return config;
  const isKnown =
    ["ralph", "baseline", ...installedAgents(env), ...Object.keys(config.agents)].includes(agent) ||
    untrusted([typedAgent(folder, agent)], env).length === 0;
  return isKnown ? { ...config, agent, fallbacks: [] } : config;
}

/** Remembers the agents that the user typed for a project. */
export async function rememberAgent(config: ResolvedConfig, folder: string, { env }: Pick<Io, "env">): Promise<void> {
  if (config.origins.agent !== "--agent") return;
  const names = [config.agent, ...config.fallbacks];
  await keepTrust(
    names.map((name) => typedAgent(folder, name)),
    env,
  );
}

const typedAgent = (folder: string, agent: string): TrustedPart => ({
  file: join(folder, ledgerName),
  key: "agent",
  value: agent,
});
