import type { UnderWay } from "../../engine/storage/under-way.js";
import { partText } from "../../engine/ui/terminal/tally.js";

/** "#5 analyzing p1", "#6 critic of p1": what an iteration under way does. */
export const underWayText = ({ iteration, unit, role, round, phase }: UnderWay): string =>
  role === undefined
    ? `#${iteration} ${phase === "ANALYSIS" && unit !== "report" ? "analyzing " : ""}${unit}`
    : `#${iteration} ${partText(role, round)} of ${unit}`;
