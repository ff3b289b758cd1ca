import type { AgentRun, Watch } from "../types.js";

/** The assumed context window of an unknown model, in tokens. */
export const defaultWindow = 200_000;
const warnShare = 0.3;
const maxShare = 0.4;

/** How much of the model's context the largest request of a run filled. */
interface Occupancy {
  /** Tokens of the largest request, including its answer. */
  readonly largest: number;
  /** The size of the context in tokens. */
  readonly window: number;
  /** `largest` divided by `window`. */
  readonly share: number;
}

/** The occupancy of a run. Undefined if the CLI does not report single requests. */
export function occupancyOf({
  usage,
  window = defaultWindow,
}: Pick<AgentRun, "usage" | "window">): Occupancy | undefined {
  const { largest } = usage;
  return largest === undefined || largest === 0 ? undefined : { largest, window, share: largest / window };
}

/**
 * Whether an ended run filled the context of its model too far. If the CLI does not report single requests, the average
 * request is used, which is at most as large as the largest one.
 */
export function wasContextFull(run: Pick<AgentRun, "usage" | "window">): boolean {
  const { input, output, requests } = run.usage;
  const largest = run.usage.largest ?? (input + output) / Math.max(1, requests);
  return largest / (run.window ?? defaultWindow) >= maxShare;
}

/**
 * Warns if the context is nearly too full for good answers, and ends the iteration if it is too full; the next brief of
 * the unit is then smaller. In classic mode it only warns: the agent chooses what it reads, so the next brief would
 * fill the context as much, and its work is already on the disk.
 */
export const watchContext: Watch = ({ unit, run }) => {
  const occupancy = occupancyOf(run);
  if (occupancy === undefined || occupancy.share < warnShare) return undefined;
  const { largest, window, share } = occupancy;
  const occupancyText = `${Math.floor(share * 100)} % of the context of ${run.model ?? run.agent} (${thousandsText(largest)} of ${thousandsText(window)} tokens)`;
  if (run.brief.access.everything) return { warning: `${unit.title} fills ${occupancyText}.` };
  if (share < maxShare)
    return { warning: `${unit.title} fills ${occupancyText}; at ${maxShare * 100} % the iteration is ended.` };
  return {
    end: {
      kind: "context",
      message: `${run.agent} was ended because ${unit.title} filled ${occupancyText}; its next brief is smaller.`,
    },
  };
};

const thousandsText = (tokens: number): string => `${Math.round(tokens / 1000)}k`;
