import type { Step } from "../../task/generated/ralph-state.js";

/** The next step of a round: a role, or how the round ended. */
export type NextStep = Step["role"] | "completion" | "error";

/** Number of failures of one role in a row, including refused results, after which the round ends in an error. */
const maxFailures = 3;

interface RoundContext {
  /** Whether the critic has asked for another version. That version is tested without another review. */
  readonly isRevised: boolean;
  /** Number of failures in a row of the current role. */
  readonly failures: number;
  readonly hasAdversary: boolean;
}

type RoundEvent = { readonly type: Step["event"] };

/**
 * Returns a function that says which role is next after the steps of a round. It uses only XState's pure functions: a
 * new machine for each answer, so that the state of a round is only in its records. XState is loaded when it is needed,
 * because loading takes 26 ms.
 */
export async function loadMachine(): Promise<(steps: readonly Step[], hasAdversary: boolean) => NextStep> {
  const { assign, initialTransition, setup, transition } = await import("xstate");
  const createRoundMachine = () =>
    setup({
      types: { context: {} as RoundContext, events: {} as RoundEvent, input: {} as Pick<RoundContext, "hasAdversary"> },
      guards: {
        isLastFailure: ({ context }) => context.failures >= maxFailures - 1,
        isRevised: ({ context }) => context.isRevised,
        hasAdversary: ({ context }) => context.hasAdversary,
      },
      actions: {
        countFailure: assign({ failures: ({ context }) => context.failures + 1 }),
        resetFailures: assign({ failures: 0 }),
        markRevised: assign({ isRevised: true, failures: 0 }),
      },
    }).createMachine({
      id: "round",
      initial: "librarian",
      context: ({ input }) => ({ isRevised: false, failures: 0, hasAdversary: input.hasAdversary }),
      states: {
        librarian: {
          on: {
            ok: { target: "artisan", actions: "resetFailures" },
            refused: [{ guard: "isLastFailure", target: "error" }, { actions: "countFailure" }],
            failed: [{ guard: "isLastFailure", target: "error" }, { actions: "countFailure" }],
          },
        },
        artisan: {
          on: {
            ok: [
              { guard: "isRevised", target: "tests", actions: "resetFailures" },
              { target: "critic", actions: "resetFailures" },
            ],
            refused: [{ guard: "isLastFailure", target: "error" }, { actions: "countFailure" }],
            failed: [{ guard: "isLastFailure", target: "error" }, { actions: "countFailure" }],
          },
        },
        critic: {
          on: {
            approve: { target: "tests", actions: "resetFailures" },
            revise: { target: "artisan", actions: "markRevised" },
            // The change may be right without a review: the tests decide.
            refused: [
              { guard: "isLastFailure", target: "tests", actions: "resetFailures" },
              { actions: "countFailure" },
            ],
            failed: [
              { guard: "isLastFailure", target: "tests", actions: "resetFailures" },
              { actions: "countFailure" },
            ],
          },
        },
        tests: {
          on: { pass: [{ guard: "hasAdversary", target: "adversary" }, { target: "completion" }], fail: "completion" },
        },
        adversary: { on: { ok: "completion", refused: "completion", failed: "completion" } },
        completion: { type: "final" },
        error: { type: "final" },
      },
    });
  return (steps, hasAdversary) => {
    const machine = createRoundMachine();
    let [snapshot] = initialTransition(machine, { hasAdversary });
    for (const { event } of steps) [snapshot] = transition(machine, snapshot, { type: event });
    return snapshot.value as NextStep;
  };
}
