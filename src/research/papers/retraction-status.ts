import type { Paper } from "../generated/rrd.js";

/** Whether at least one service has checked if the paper was retracted. */
export const isCheckedForRetraction = ({ updates_check: check }: Pick<Paper, "updates_check">): boolean =>
  (check?.checked_by.length ?? 0) > 0;
