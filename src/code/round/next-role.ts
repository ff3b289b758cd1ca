import type { Step } from "../../task/generated/ralph-state.js";

/** Where a round stands: the role that is next, or how it has ended. */
export type Place = Step["role"] | "completion" | "error";

/** Failures of one role, results that could not be used included, after which the round ends in an error. */
const maxFailures = 3;

interface Counted {
  /** The critic has asked for another version: it is tested next, whatever it is like. */
  readonly revised: boolean;
  /** Of the role that is next, in a row. */
  readonly failures: number;
  readonly hasAdversary: boolean;
}

type Happening = { readonly type: Step["event"] };

/**
 * Says which role a round's outcomes lead to. XState's pure half is used: a machine without an interpreter, made anew
 * for each answer, so nothing of a round lives anywhere but in its records. Loaded only where it is needed: 26 ms.
 */
export async function loadMachine(): Promise<(steps: readonly Step[], hasAdversary: boolean) => Place> {
  const { assign, initialTransition, setup, transition } = await import("xstate");
  const make = () =>
    setup({
      types: { context: {} as Counted, events: {} as Happening, input: {} as Pick<Counted, "hasAdversary"> },
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
            // The change may be right without anybody who has read it: the tests decide.
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
    const machine = make();
    let [snapshot] = initialTransition(machine, { hasAdversary });
    for (const { event } of steps) [snapshot] = transition(machine, snapshot, { type: event });
    return snapshot.value as Place;
  };
}
