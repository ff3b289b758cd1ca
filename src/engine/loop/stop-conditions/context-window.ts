import type { AgentRun, Watch } from "../types.js";

/** Tokens that a model takes in one request, where nothing is known of it. */
export const usualWindow = 200_000;
const warnAt = 0.3;
const closeAt = 0.4;

/** How full the model's context was at most in a run. */
interface Occupancy {
  /** Tokens of the largest single request, with its answer. */
  readonly largest: number;
  readonly window: number;
  readonly share: number;
}

/** Undefined where the CLI does not tell requests apart. */
export function occupancyOf({
  usage,
  window = usualWindow,
}: Pick<AgentRun, "usage" | "window">): Occupancy | undefined {
  const { largest } = usage;
  return largest === undefined || largest === 0 ? undefined : { largest, window, share: largest / window };
}

/**
 * Whether a run that has ended filled its model's context too far. Where the CLI does not tell requests apart, the
 * average one says so: the largest was not smaller.
 */
export function wasFull(run: Pick<AgentRun, "usage" | "window">): boolean {
  const { input, output, requests } = run.usage;
  const largest = run.usage.largest ?? (input + output) / Math.max(1, requests);
  return largest / (run.window ?? usualWindow) >= closeAt;
}

/**
 * Warns where a context is nearly too full to think well in, and closes the iteration where it is: the next brief of
 * the unit is smaller. In classic mode it only warns: the agent chooses what it reads, so the next brief would fill as
 * far, and what it did is on the disk.
 */
export const watchContext: Watch = ({ unit, run }) => {
  const occupancy = occupancyOf(run);
  if (occupancy === undefined || occupancy.share < warnAt) return undefined;
  const { largest, window, share } = occupancy;
  const full = `${Math.floor(share * 100)} % of the context of ${run.model ?? run.agent} (${thousands(largest)} of ${thousands(window)} tokens)`;
  if (run.brief.access.everything) return { warning: `${unit.title} fills ${full}.` };
  if (share < closeAt) return { warning: `${unit.title} fills ${full}; at ${closeAt * 100} % it is closed.` };
  return {
    end: {
      kind: "context",
      message: `${run.agent} was ended because ${unit.title} filled ${full}; its next brief is smaller.`,
    },
  };
};

const thousands = (tokens: number): string => `${Math.round(tokens / 1000)}k`;
