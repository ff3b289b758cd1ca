import type { ResolvedConfig } from "./config.js";
import { thinkingRoles } from "../engine/loop/think.js";
import { baseline } from "../research/baseline-agent/definition.js";
import { checkerRoles } from "../research/units/check/kind.js";
import { secondReader } from "../research/units/form/kind.js";
import { readerRoles } from "../research/units/shared-unit.js";
import type { CheckScope } from "../research/units/judged-result.js";
import { type CheckPlan, checksAhead } from "../research/workflow/forecast.js";
import type { Sharing } from "../research/units/unit-kind.js";
import type { RoleNames } from "./agents.js";

/** The units of a project that several agents do. */
export const sharingOf = ({ think, screening, check, secondReader }: ResolvedConfig): Sharing => ({
  think: think && { rounds: think.rounds },
  readers: screening && { conflicts: screening.conflicts },
  second: secondReader === undefined ? undefined : (true as const),
  checkers: check && checkerRoles.slice(0, Math.max(check.agents.length, 1)),
});

/** What checkers check; undefined: nothing. */
export const checkWishOf = ({ check }: ResolvedConfig): CheckScope | undefined =>
  check && (check.all ? "all" : "reports");

/** The agents of the roles in shared units. */
export const roleNamesOf = (config: ResolvedConfig): RoleNames => ({
  ...checkerNamesOf(config),
  ...(config.think === undefined ? {} : { [thinkingRoles.critic]: [config.think.critic] }),
  ...(config.secondReader === undefined ? {} : { [secondReader]: [config.secondReader] }),
  ...Object.fromEntries((config.screening?.readers ?? []).map((name, index) => [readerRoles[index] ?? "", [name]])),
});

/**
 * The agents that check: the named one, else the second agent of the run, then the others as fallbacks. Two named
 * agents check independently and have no fallback. Empty: no check, or no agent has a model.
 */
export function checkerNamesOf({ check, agent, fallbacks, agents }: ResolvedConfig): RoleNames {
  if (check === undefined) return {};
  const [namedAgents, runAgents] = [check.agents, [agent, ...fallbacks]];
  const [first, second] = checkerRoles;
  if (namedAgents.length === 2) return { [first]: [namedAgents[0] ?? ""], [second]: [namedAgents[1] ?? ""] };
  const hasModel = (name: string) => (agents[name]?.type ?? name) !== baseline.name;
  const [writer, ...otherAgents] = runAgents.filter(hasModel);
  const names = [...new Set([...namedAgents, ...otherAgents, ...(writer === undefined ? [] : [writer])])];
  return names.length === 0 ? {} : { [first]: names };
}

/** The checks that the work of this agent will have; undefined: none. */
export function checkPlanOf(config: ResolvedConfig, { free }: { readonly free?: true }): CheckPlan | undefined {
  const checkWish = checkWishOf(config);
  if (checkWish === undefined || free === true || Object.keys(checkerNamesOf(config)).length === 0) return undefined;
  return { wish: checkWish, checkers: sharingOf(config).checkers?.length ?? 1 };
}

/**
 * Maximum number of iterations for so many units, with their checks. Some of the units may be screening batches.
 */
export function iterationsOf(config: ResolvedConfig, units: number): number {
  const { think, screening } = config;
  const plan = checkPlanOf(config, {});
  const checks = plan === undefined ? [] : Object.values(checksAhead(units, plan));
  return (
    units * (1 + 2 * (think?.rounds ?? 0) + (config.secondReader === undefined ? 0 : 1)) +
    (screening === undefined ? 0 : 6 * (screening.conflicts === "third" ? 2 : 1)) +
    checks.reduce((total, count) => total + count, 0)
  );
}
