import type { Step } from "../../task/generated/ralph-state.js";

/** The next step of a round: a role, or how the round ended. */
export type Place = Step["role"] | "completion" | "error";

/** After so many failures of one role in a row, with unusable results included, the round ends in an error. */
const maxFailures = 3;

interface RoundContext {
  /** The critic has asked for another version. That version is tested without another review. */
  readonly revised: boolean;
  /** Failures in a row of the current role. */
  readonly failures: number;
  readonly hasAdversary: boolean;
}

type RoundEvent = { readonly type: Step["event"] };

/**
 * Returns a function that says which role is next after the steps of a round. It uses only XState's pure functions: a
 * new machine for each answer, so that the state of a round is only in its records. XState is loaded when it is needed,
 * because loading takes 26 ms.
 */
export async function loadMachine(): Promise<(steps: readonly Step[], hasAdversary: boolean) => Place> {
  const { assign, initialTransition, setup, transition } = await import("xstate");
  const createRoundMachine = () =>
    setup({
      types: { context: {} as RoundContext, events: {} as RoundEvent, input: {} as Pick<RoundContext, "hasAdversary"> },
      guards: {
        isLast: ({ context }) => context.failures >= maxFailures - 1,
        isRevised: ({ context }) => context.revised,
        hasAdversary: ({ context }) => context.hasAdversary,
      },
      actions: {
        another: assign({ failures: ({ context }) => context.failures + 1 }),
        none: assign({ failures: 0 }),
        revised: assign({ revised: true, failures: 0 }),
      },
    }).createMachine({
      id: "round",
      initial: "librarian",
      context: ({ input }) => ({ revised: false, failures: 0, hasAdversary: input.hasAdversary }),
      states: {
        librarian: {
          on: {
            ok: { target: "artisan", actions: "none" },
            refused: [{ guard: "isLast", target: "error" }, { actions: "another" }],
            failed: [{ guard: "isLast", target: "error" }, { actions: "another" }],
          },
        },
        artisan: {
          on: {
            ok: [
              { guard: "isRevised", target: "tests", actions: "none" },
              { target: "critic", actions: "none" },
            ],
            refused: [{ guard: "isLast", target: "error" }, { actions: "another" }],
            failed: [{ guard: "isLast", target: "error" }, { actions: "another" }],
          },
        },
        critic: {
          on: {
            approve: { target: "tests", actions: "none" },
            revise: { target: "artisan", actions: "revised" },
            // The change may be right without a review: the tests decide.
            refused: [{ guard: "isLast", target: "tests", actions: "none" }, { actions: "another" }],
            failed: [{ guard: "isLast", target: "tests", actions: "none" }, { actions: "another" }],
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
    return snapshot.value as Place;
  };
}
