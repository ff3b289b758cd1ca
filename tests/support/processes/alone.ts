import type { Agent, LoopOptions } from "../../../src/engine/loop/types.js";

/** The options of a loop in which one agent does everything, and nothing watches it. */
export const alone = (agent: Agent): Pick<LoopOptions, "choose" | "watches" | "reviews" | "jobs"> => ({
  choose: () => ({ agent }),
  watches: [],
  reviews: [],
  jobs: 1,
});
