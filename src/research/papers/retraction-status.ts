import type { Paper } from "../generated/rrd.js";

/** Whether a service said if a paper was retracted. Where none did, nothing is known. */
export const isCheckedForRetraction = ({ updates_check: check }: Pick<Paper, "updates_check">): boolean =>
  (check?.checked_by.length ?? 0) > 0;
