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

/** The roles that agents have in a team, and how freely they answer unless somebody says otherwise. */
const usualTemperatures = { librarian: 0.3, artisan: 0.7, critic: 0.2, adversary: 0.9 } as const;
const roles = Object.keys(usualTemperatures) as (keyof typeof usualTemperatures)[];

/** Of the librarian: code does it. */
const builtIn = "built-in";

/** Who does what in a team, as the configuration says. */
export interface CodeCrew {
  /** The configuration with an agent for each role that has a model of its own. */
  readonly config: ResolvedConfig;
  /** The agents of roles that have their own. */
  readonly names: RoleNames;
  readonly hasAdversary: boolean;
  readonly isBuiltIn: boolean;
  readonly temperatures: Readonly<Record<string, number>>;
  /** Of each role whose model the run's own agent does not have: which agent is asked for it. */
  readonly others: readonly string[];
}

/**
 * The agent for a role with this model: the run's own where it can have it, else another of the configuration, else one
 * of its maker's that is installed, else `ralph` where there is a key. @throws ExpectedError (exit code 2) without one.
 */
function agentWith(model: string, role: string, config: ResolvedConfig, env: NodeJS.ProcessEnv): string {
  const family = familyOf(model);
  const settings = { agents: config.agents, adapters: [], env };
  const isFit = (name: string) => family === undefined || familiesOf(name, settings)?.includes(family) !== false;
  if (isFit(config.agent)) return config.agent;
  const isCommand = (name: string) => name.startsWith("cmd:") || config.agents[name]?.type === "command";
  const own = [...config.fallbacks, ...Object.keys(config.agents)].find((name) => !isCommand(name) && isFit(name));
  const installed = installedAgents(env).find(
    (name) => family !== undefined && familiesOf(name, settings)?.includes(family) === true,
  );
  const hasKey =
    modelWish(config, role).api_key !== undefined || ralphKeys(model).some((name) => (env[name] ?? "") !== "");
  const found = own ?? installed ?? (hasKey ? "ralph" : undefined);
  if (found !== undefined) return found;
  throw new ExpectedError(
    `/models/${role}: ${config.agent} has no model '${model}', and no agent that has it is installed; name another model, or install one of its maker.`,
    2,
  );
}

type ModelWish = Exclude<NonNullable<ResolvedConfig["models"]>[string], string>;

/** What `models.<role>` says; a text is the model. */
function modelWish({ models }: ResolvedConfig, role: string): ModelWish {
  const wish = models?.[role];
  return typeof wish === "string" ? { model: wish } : (wish ?? {});
}

/** The variables that may hold ralph's key for a model. */
function ralphKeys(model = ""): readonly string[] {
  if (model.startsWith("claude")) return ["ANTHROPIC_API_KEY"];
  return model.startsWith("gemini") ? ["GEMINI_API_KEY", "GOOGLE_API_KEY"] : ["OPENAI_API_KEY"];
}

/** The agent of a role by `models.<role>`. @throws ExpectedError (exit code 2) if that has no effect. */
function agentOfModel({ model, api_key }: ModelWish, role: string, config: ResolvedConfig, env: NodeJS.ProcessEnv) {
  const { agent: asked, agents } = config;
  if (asked.startsWith("cmd:") || agents[asked]?.type === "command")
    throw new ExpectedError(
      `/models/${role} has no effect on the command agent ${asked}; name another with --agent.`,
      2,
    );
  const base = model === undefined ? asked : agentWith(model, role, config, env);
  const settings = { agents, adapters: [] };
  const entry = entryOf(base, settings);
  const own = entry.env ?? {};
  const variables = entry.type === "ralph" ? ralphKeys(model ?? entry.model) : keyVariablesOf(base, settings);
  // Of a token it is not known which of a service's it is; a key of the configuration is a key.
  const variable = variables.find((name) => name.endsWith("_API_KEY"));
  const isKnown = variables.some((each) => (own[each] ?? env[each] ?? "") !== "");
  if (api_key !== undefined && variable === undefined)
    throw new ExpectedError(`/models/${role}/api_key has no effect on ${base}, whose keys are not known.`, 2);
  const key = api_key === undefined || variable === undefined || isKnown ? {} : { [variable]: api_key };
  return {
    // Without the kind that an agent may be named by.
    name: `${base.slice(base.indexOf(":") + 1).split(" ")[0]}-${role}`,
    agent: { ...entry, ...withoutUndefined({ model }), env: { ...own, ...key } },
    other: base === asked ? [] : [`${asked} has no model ${model}, so ${base} is asked for it as the ${role}.`],
  };
}

/** @throws ExpectedError (exit code 2) for a role that there is not, and for a model of an agent that takes none. */
export function crewOf(config: ResolvedConfig, env: NodeJS.ProcessEnv): CodeCrew {
  const wishes = config.code?.roles ?? {};
  requireRoles(Object.keys(wishes), "/code/roles");
  requireRoles(Object.keys(config.models ?? {}), "/models");
  const names: Record<string, readonly string[]> = {};
  const temperatures: Record<string, number> = { ...usualTemperatures };
  let agents = config.agents;
  const others: string[] = [];
  let isBuiltIn = false;
  for (const role of roles) {
    const wish = wishes[role];
    const model = modelWish(config, role);
    if (wish === false && role !== "adversary")
      throw new ExpectedError(`/code/roles/${role} is false; only the adversary can be left out.`, 2);
    const { agent, temperature = model.temperature } = wish === false || wish === undefined ? {} : wish;
    if (temperature !== undefined) temperatures[role] = temperature;
    const chosen = agent === undefined ? [] : [agent].flat();
    if (chosen.length > 0 && (model.model ?? model.api_key) !== undefined)
      throw new ExpectedError(
        `/models/${role} and /code/roles/${role}/agent both say who does it; write the model under agents, or leave one out.`,
        2,
      );
    if (chosen.includes(builtIn)) {
      if (role !== "librarian" || chosen.length > 1)
        throw new ExpectedError(
          `/code/roles/${role}/agent: '${builtIn}' is for the librarian alone, and without fallbacks.`,
          2,
        );
      isBuiltIn = true;
    } else if (chosen.length > 0) names[role] = chosen;
    else if (model.model !== undefined || model.api_key !== undefined) {
      const own = agentOfModel(model, role, config, env);
      agents = { ...agents, [own.name]: own.agent };
      names[role] = [own.name, ...config.fallbacks];
      others.push(...own.other);
    }
  }
  const hasAdversary = wishes["adversary"] !== false;
  return { config: { ...config, agents }, names, hasAdversary, isBuiltIn, temperatures, others };
}

/** @throws ExpectedError (exit code 2) for an agent that there is not, or that can't work on the files of a project. */
export function requireCrew({ names, config }: CodeCrew, settings: AgentSettings): void {
  const work = "a team";
  for (const name of [config.agent, ...config.fallbacks]) requireHere(name, config, work);
  for (const [role, all] of Object.entries(names))
    for (const [at, name] of all.entries()) {
      const wish = config.code?.roles?.[role] || undefined;
      const index = Array.isArray(wish?.agent) ? `/${at}` : "";
      const pointer = wish?.agent === undefined ? `/models/${role}` : `/code/roles/${role}/agent${index}`;
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
 * Tokens that the model of these agents takes in one request; of several the fewest, as each may be asked. Where an
 * agent's model is not known, it is the usual number.
 */
export const windowOf = (names: readonly string[], settings: AgentSettings): number =>
  Math.min(...names.map((name) => windowOfModel(modelOf(name, settings)) ?? defaultWindow));

function requireRoles(names: readonly string[], pointer: string): void {
  const unknown = names.find((name) => !(roles as readonly string[]).includes(name));
  if (unknown === undefined) return;
  const near = nearestCandidate(unknown, roles);
  throw new ExpectedError(
    `${pointer}/${unknown} is not a role of a team; the roles are ${roles.join(", ")}.${near === undefined ? "" : ` Did you mean ${near}?`}`,
    2,
  );
}

/** What a person has to know of the agents in their roles, once a run. */
export function noticesOf(
  { config, others }: Pick<CodeCrew, "config" | "others">,
  agents: readonly { readonly name: string; readonly takesTemperature?: true; readonly free?: true }[],
): string[] {
  const fixed = agents.filter((agent) => agent.takesTemperature !== true).map(({ name }) => name);
  const codex = agents.map(({ name }) => name).filter((name) => (config.agents[name]?.type ?? name) === "codex");
  return [
    ...others,
    ...(fixed.length === 0
      ? []
      : [
          `${fixed.join(", ")} ${fixed.length === 1 ? "takes" : "take"} no temperature, so that of the roles is not applied.`,
        ]),
    ...(codex.length === 0
      ? []
      : [
          `${codex.join(", ")} does not report its usage while it runs, so it can't be ended when its context is 40 % full; its next brief is made smaller instead.`,
        ]),
  ];
}
