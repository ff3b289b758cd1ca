import type { UnitKind } from "./state.js";

/** The day on which these figures were measured with the real Claude Code and Codex. */
export const measuredOn = "2026-11-22";

/** What one unit takes, all requests of its agent together. */
export interface Figure {
  /** Tokens. */
  readonly input: number;
  readonly output: number;
  readonly minutes: number;
}

/** Tokens of a paper of usual length. */
const medianPaper = 15_000;
/** What the CLI puts in front of every brief. */
const floor = 2_000;
const fullBrief = 6_000;

/**
 * What a unit takes where nothing is known of this machine's own: briefs at their bound, a paper of usual length, answered in one
 * request; a batch of discovery searches further in two more. Nothing but data.
 */
export const figures: Readonly<Record<Exclude<UnitKind, "classic">, Figure>> = {
  discovery: { input: 3 * (floor + fullBrief), output: 3_000, minutes: 4 },
  paper: { input: floor + fullBrief + medianPaper, output: 2_500, minutes: 3 },
  report: { input: floor + fullBrief, output: 3_000, minutes: 3 },
  ideas: { input: floor + fullBrief, output: 4_000, minutes: 3 },
};

/** Papers that a batch of discovery brings, where this research has had none yet. */
export const papersABatch = 8;
