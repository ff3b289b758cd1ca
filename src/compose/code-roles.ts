import { requireHere, type RoleNames } from "./agents.js";
import type { AgentSettings } from "../engine/agents/definition.js";
import { familyOf, windowOf as windowOfModel } from "../engine/agents/prices.js";
import { installedAgents } from "../engine/agents/adapters.js";
import { entryOf, familiesOf, keyVariablesOf, modelOf } from "../engine/agents/registry.js";
import { defaultWindow } from "../engine/loop/stop-conditions/context-window.js";
import type { ResolvedConfig } from "./config.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { nearestCandidate } from "../engine/lib/nearest.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";

/** The roles of a team, and their default temperatures. */
const defaultTemperatures = { librarian: 0.3, artisan: 0.7, critic: 0.2, adversary: 0.9 } as const;
const roles = Object.keys(defaultTemperatures) as (keyof typeof defaultTemperatures)[];

/** The value for the librarian that lets code do its work instead of an agent. */
const builtIn = "built-in";

/** The agents of a team by the configuration. */
export interface CodeCrew {
  /** The configuration, with one more agent for each role that has its own model. */
  readonly config: ResolvedConfig;
  /** The agents of each role that does not use the agent of the run. */
  readonly names: RoleNames;
  readonly hasAdversary: boolean;
  readonly isBuiltIn: boolean;
  readonly temperatures: Readonly<Record<string, number>>;
  /** Notices about roles whose model the run's agent does not have: which agent is used for it. */
  readonly modelNotices: readonly string[];
}

/**
 * The agent for a role with this model: the run's agent if it has the model, else another one of the configuration,
 * else an installed one of the model's vendor, else `ralph` if there is a key. @throws ExpectedError (exit code 2) if
 * there is no such agent.
 */
function agentWithModel(model: string, role: string, config: ResolvedConfig, env: NodeJS.ProcessEnv): string {
  const family = familyOf(model);
  const settings = { agents: config.agents, adapters: [], env };
  const hasModel = (name: string) => family === undefined || familiesOf(name, settings)?.includes(family) !== false;
  if (hasModel(config.agent)) return config.agent;
  const isCommand = (name: string) => name.startsWith("cmd:") || config.agents[name]?.type === "command";
  const configuredAgent = [...config.fallbacks, ...Object.keys(config.agents)].find(
    (name) => !isCommand(name) && hasModel(name),
  );
  const installed = installedAgents(env).find(
    (name) => family !== undefined && familiesOf(name, settings)?.includes(family) === true,
  );
  const hasKey =
    modelSettingsOf(config, role).api_key !== undefined || ralphKeys(model).some((name) => (env[name] ?? "") !== "");
  const suitable = configuredAgent ?? installed ?? (hasKey ? "ralph" : undefined);
  if (suitable !== undefined) return suitable;
  throw new ExpectedError(
    `/models/${role}: ${config.agent} has no model '${model}', and no agent that has it is installed; name another model, or install one of its maker.`,
    2,
  );
}

type ModelSettings = Exclude<NonNullable<ResolvedConfig["models"]>[string], string>;

/** The settings in `models.<role>`; a text is the name of the model. */
function modelSettingsOf({ models }: ResolvedConfig, role: string): ModelSettings {
  const setting = models?.[role];
  return typeof setting === "string" ? { model: setting } : (setting ?? {});
}

/** The variables that may hold ralph's key for a model. */
function ralphKeys(model = ""): readonly string[] {
  if (model.startsWith("claude")) return ["ANTHROPIC_API_KEY"];
  return model.startsWith("gemini") ? ["GEMINI_API_KEY", "GOOGLE_API_KEY"] : ["OPENAI_API_KEY"];
}

/** The agent of a role by `models.<role>`. @throws ExpectedError (exit code 2) if that has no effect. */
function agentOfModel({ model, api_key }: ModelSettings, role: string, config: ResolvedConfig, env: NodeJS.ProcessEnv) {
  const { agent: runAgent, agents } = config;
  if (runAgent.startsWith("cmd:") || agents[runAgent]?.type === "command")
    throw new ExpectedError(
      `/models/${role} has no effect on the command agent ${runAgent}; name another with --agent.`,
      2,
    );
  const baseAgent = model === undefined ? runAgent : agentWithModel(model, role, config, env);
  const settings = { agents, adapters: [] };
  const entry = entryOf(baseAgent, settings);
  const entryEnv = entry.env ?? {};
  const variables = entry.type === "ralph" ? ralphKeys(model ?? entry.model) : keyVariablesOf(baseAgent, settings);
  // The configured key is an API key, so variables for tokens do not fit.
  const variable = variables.find((name) => name.endsWith("_API_KEY"));
  const isKnown = variables.some((name) => (entryEnv[name] ?? env[name] ?? "") !== "");
  if (api_key !== undefined && variable === undefined)
    throw new ExpectedError(`/models/${role}/api_key has no effect on ${baseAgent}, whose keys are not known.`, 2);
  const key = api_key === undefined || variable === undefined || isKnown ? {} : { [variable]: api_key };
  return {
    // Without a prefix such as "cmd:".
    name: `${baseAgent.slice(baseAgent.indexOf(":") + 1).split(" ")[0]}-${role}`,
    agent: { ...entry, ...withoutUndefined({ model }), env: { ...entryEnv, ...key } },
    notices:
      baseAgent === runAgent
        ? []
        : [`${runAgent} has no model ${model}, so ${baseAgent} is asked for it as the ${role}.`],
  };
}

/**
 * The agents of a team. @throws ExpectedError (exit code 2) for an unknown role, and for a model or key that its agent
 * does not use.
 */
export function crewOf(config: ResolvedConfig, env: NodeJS.ProcessEnv): CodeCrew {
  const roleSettings = config.code?.roles ?? {};
  requireRoles(Object.keys(roleSettings), "/code/roles");
  requireRoles(Object.keys(config.models ?? {}), "/models");
  const names: Record<string, readonly string[]> = {};
  const temperatures: Record<string, number> = { ...defaultTemperatures };
  let agents = config.agents;
  const modelNotices: string[] = [];
  let isBuiltIn = false;
  for (const role of roles) {
    const setting = roleSettings[role];
    const model = modelSettingsOf(config, role);
    if (setting === false && role !== "adversary")
      throw new ExpectedError(`/code/roles/${role} is false; only the adversary can be left out.`, 2);
    const { agent, temperature = model.temperature } = setting === false || setting === undefined ? {} : setting;
    if (temperature !== undefined) temperatures[role] = temperature;
    const chosenAgents = agent === undefined ? [] : [agent].flat();
    if (chosenAgents.length > 0 && (model.model ?? model.api_key) !== undefined)
      throw new ExpectedError(
        `/models/${role} and /code/roles/${role}/agent both say who does it; write the model under agents, or leave one out.`,
        2,
      );
    if (chosenAgents.includes(builtIn)) {
      if (role !== "librarian" || chosenAgents.length > 1)
        throw new ExpectedError(
          `/code/roles/${role}/agent: '${builtIn}' is for the librarian alone, and without fallbacks.`,
          2,
        );
      isBuiltIn = true;
    } else if (chosenAgents.length > 0) names[role] = chosenAgents;
    else if (model.model !== undefined || model.api_key !== undefined) {
      const roleAgent = agentOfModel(model, role, config, env);
      agents = { ...agents, [roleAgent.name]: roleAgent.agent };
      names[role] = [roleAgent.name, ...config.fallbacks];
      modelNotices.push(...roleAgent.notices);
    }
  }
  const hasAdversary = roleSettings["adversary"] !== false;
  return { config: { ...config, agents }, names, hasAdversary, isBuiltIn, temperatures, modelNotices };
}

/** @throws ExpectedError (exit code 2) if an agent is unknown or can't work on the files of a project. */
export function requireCrew({ names, config }: CodeCrew, settings: AgentSettings): void {
  const work = "a team";
  for (const name of [config.agent, ...config.fallbacks]) requireHere(name, config, work);
  for (const [role, agentNames] of Object.entries(names))
    for (const [position, name] of agentNames.entries()) {
      const setting = config.code?.roles?.[role] || undefined;
      const index = Array.isArray(setting?.agent) ? `/${position}` : "";
      const pointer = setting?.agent === undefined ? `/models/${role}` : `/code/roles/${role}/agent${index}`;
      requireHere(name, config, work, pointer);
      try {
        modelOf(name, settings);
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        throw new ExpectedError(`${pointer}: ${error.message}`, error.exitCode);
      }
    }
}

/** Names of the agents that do the librarian's work. */
export const librariansOf = ({ names, config }: Pick<CodeCrew, "names" | "config">): readonly string[] =>
  names["librarian"] ?? [config.agent, ...config.fallbacks];

/**
 * The context window in tokens that all these agents have: the smallest one, because each may be used. An agent with an
 * unknown model counts with the default window.
 */
export const windowOf = (names: readonly string[], settings: AgentSettings): number =>
  Math.min(...names.map((name) => windowOfModel(modelOf(name, settings)) ?? defaultWindow));

function requireRoles(names: readonly string[], pointer: string): void {
  const unknown = names.find((name) => !(roles as readonly string[]).includes(name));
  if (unknown === undefined) return;
  const nearestRole = nearestCandidate(unknown, roles);
  throw new ExpectedError(
    `${pointer}/${unknown} is not a role of a team; the roles are ${roles.join(", ")}.${nearestRole === undefined ? "" : ` Did you mean ${nearestRole}?`}`,
    2,
  );
}

/** What the user must know about the agents of the roles; shown once in a run. */
export function noticesOf(
  { config, modelNotices }: Pick<CodeCrew, "config" | "modelNotices">,
  agents: readonly { readonly name: string; readonly takesTemperature?: true; readonly free?: true }[],
): string[] {
  const withoutTemperature = agents.filter((agent) => agent.takesTemperature !== true).map(({ name }) => name);
  const codex = agents.map(({ name }) => name).filter((name) => (config.agents[name]?.type ?? name) === "codex");
  return [
    ...modelNotices,
    ...(withoutTemperature.length === 0
      ? []
      : [
          `${withoutTemperature.join(", ")} ${withoutTemperature.length === 1 ? "takes" : "take"} no temperature, so that of the roles is not applied.`,
        ]),
    ...(codex.length === 0
      ? []
      : [
          `${codex.join(", ")} does not report its usage while it runs, so it can't be ended when its context is 40 % full; its next brief is made smaller instead.`,
        ]),
  ];
}
