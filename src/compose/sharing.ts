import type { ResolvedConfig } from "./config.js";
import { thinkingRoles } from "../engine/loop/think.js";
import { baseline } from "../research/baseline-agent/definition.js";
import { checkerRoles } from "../research/units/check/kind.js";
import { secondReader } from "../research/units/form/kind.js";
import { readerRoles } from "../research/units/shared-unit.js";
import type { CheckWish } from "../research/units/judged-result.js";
import { type CheckPlan, checksAhead } from "../research/workflow/forecast.js";
import type { Sharing } from "../research/units/unit-kind.js";
import type { RoleNames } from "./agents.js";

/** Which units of a project several agents share. */
export const sharingOf = ({ think, screening, check, secondReader }: ResolvedConfig): Sharing => ({
  think: think && { rounds: think.rounds },
  readers: screening && { conflicts: screening.conflicts },
  second: secondReader === undefined ? undefined : (true as const),
  checkers: check && checkerRoles.slice(0, Math.max(check.agents.length, 1)),
});

/** What a second reader checks in them; undefined: nothing. */
export const checkWishOf = ({ check }: ResolvedConfig): CheckWish | undefined =>
  check && (check.all ? "all" : "reports");

/** The agents of the roles in them. */
export const roleNamesOf = (config: ResolvedConfig): RoleNames => ({
  ...checkerNamesOf(config),
  ...(config.think === undefined ? {} : { [thinkingRoles.critic]: [config.think.critic] }),
  ...(config.secondReader === undefined ? {} : { [secondReader]: [config.secondReader] }),
  ...Object.fromEntries((config.screening?.readers ?? []).map((name, index) => [readerRoles[index] ?? "", [name]])),
});

/**
 * Who checks: the one that is named, else the second of several agents; where that one can't work, any other.
 * Two that are named work each for itself, and nobody in their place. Empty: nobody does, or no agent has a model.
 */
export function checkerNamesOf({ check, agent, fallbacks, agents }: ResolvedConfig): RoleNames {
  if (check === undefined) return {};
  const [named, everyone] = [check.agents, [agent, ...fallbacks]];
  const [first, second] = checkerRoles;
  if (named.length === 2) return { [first]: [named[0] ?? ""], [second]: [named[1] ?? ""] };
  const hasModel = (name: string) => (agents[name]?.type ?? name) !== baseline.name;
  const [writer, ...others] = everyone.filter(hasModel);
  const names = [...new Set([...named, ...others, ...(writer === undefined ? [] : [writer])])];
  return names.length === 0 ? {} : { [first]: names };
}

/** What a second reader will check of what this agent writes; undefined: nothing. */
export function checkPlanOf(config: ResolvedConfig, { free }: { readonly free?: true }): CheckPlan | undefined {
  const wish = checkWishOf(config);
  if (wish === undefined || free === true || Object.keys(checkerNamesOf(config)).length === 0) return undefined;
  return { wish, checkers: sharingOf(config).checkers?.length ?? 1 };
}

/**
 * Maximum number of iterations that so many units take, some of them screening batches, and the checks that come with
 * them.
 */
export function iterationsOf(config: ResolvedConfig, units: number): number {
  const { think, screening } = config;
  const plan = checkPlanOf(config, {});
  const checks = plan === undefined ? [] : Object.values(checksAhead(units, plan));
  return (
    units * (1 + 2 * (think?.rounds ?? 0) + (config.secondReader === undefined ? 0 : 1)) +
    (screening === undefined ? 0 : 6 * (screening.conflicts === "third" ? 2 : 1)) +
    checks.reduce((total, each) => total + each, 0)
  );
}
