import type { ResolvedConfig } from "../engine/config/resolve.js";
import { thinkingRoles } from "../engine/loop/think.js";
import type { Sharing } from "../research/workflow/sharing/shared-unit.js";
import type { RoleNames } from "./agents.js";

/** Which units of a project several agents share. */
export const sharingOf = ({ think }: ResolvedConfig): Sharing =>
  think === undefined ? {} : { think: { rounds: think.rounds } };

/** The agents of the roles in them. */
export const roleNamesOf = ({ think }: ResolvedConfig): RoleNames =>
  think === undefined ? {} : { [thinkingRoles.critic]: [think.critic] };

/** Iterations that so many units take at most. */
export const iterationsOf = ({ think }: ResolvedConfig, units: number): number =>
  units * (1 + 2 * (think?.rounds ?? 0));
