import type { ResolvedConfig } from "./config.js";
import { given } from "../engine/lib/given.js";
import { thinkingRoles } from "../engine/loop/think.js";
import { readerRoles } from "../research/units/shared-unit.js";
import type { Sharing } from "../research/units/unit-kind.js";
import type { RoleNames } from "./agents.js";

/** Which units of a project several agents share. */
export const sharingOf = ({ think, screening }: ResolvedConfig): Sharing =>
  given({ think: think && { rounds: think.rounds }, readers: screening && { conflicts: screening.conflicts } });

/** The agents of the roles in them. */
export const roleNamesOf = ({ think, screening }: ResolvedConfig): RoleNames => ({
  ...(think === undefined ? {} : { [thinkingRoles.critic]: [think.critic] }),
  ...Object.fromEntries((screening?.readers ?? []).map((name, index) => [readerRoles[index] ?? "", [name]])),
});

/** Most iterations that so many units take, of which some may be screening batches. */
export const iterationsOf = ({ think, screening }: ResolvedConfig, units: number): number =>
  units * (1 + 2 * (think?.rounds ?? 0)) +
  (screening === undefined ? 0 : 6 * (screening.conflicts === "third" ? 2 : 1));
