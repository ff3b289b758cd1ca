import fc from "../../support/runner/fast-check.js";
import { describe, expect, it } from "vitest";
import { remainingToScreen, recallBound, type ScreenedBatch } from "../../../src/research/screening/stopping-rule.js";

const asked = { target: 0.95, confidence: 0.95 };
const none = (batches: number): ScreenedBatch[] => Array.from({ length: batches }, () => ({ screened: 10, kept: 0 }));

describe("recallBound", () => {
  it("gives the hypergeometric chance of a draw so poor", () => {
    // Found 19 before; below 95 % from the second missed one on. 8 of 10 drawn without one of 2: C(8,8) ways of
    // C(10,8).
    const { risk } = recallBound([{ screened: 8, kept: 0 }], { earlier: 19, waiting: 2 }, asked);
    expect(risk).toBeCloseTo(1 / 45, 10);
    // One found; below 50 % with three in the urn of five. 3 drawn with at most one of them: C(3,1) * C(2,2) of C(5,3).
    const half = recallBound([{ screened: 3, kept: 1 }], { earlier: 0, waiting: 2 }, { target: 0.5, confidence: 0.95 });
    expect(half.risk).toBeCloseTo(0.3, 10);
  });

  it("claims everything where nothing waits, and nothing where nothing was found or screened", () => {
    expect(recallBound([{ screened: 5, kept: 2 }], { earlier: 0, waiting: 0 }, asked)).toEqual({ atLeast: 1, risk: 0 });
    expect(recallBound([], { earlier: 0, waiting: 50 }, asked)).toEqual({ atLeast: 0, risk: 1 });
    expect(recallBound([], { earlier: 50, waiting: 50 }, asked)).toEqual({ atLeast: 0.5, risk: 1 });
  });

  it("is surer with each batch that brings nothing, and reaches the target exactly when the risk is small enough", () => {
    const sizes = fc.record({ earlier: fc.integer({ min: 1, max: 60 }), waiting: fc.integer({ min: 0, max: 400 }) });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 20 }), ({ earlier, waiting }, count) => {
        const found = [{ screened: 40, kept: earlier }];
        const all = waiting + 10 * 20;
        const bounds = [count, count + 1].map((batches) =>
          recallBound([...found, ...none(batches)], { earlier: 0, waiting: all - 10 * batches }, asked),
        );
        const [before, after] = bounds as [(typeof bounds)[0], (typeof bounds)[0]];
        expect(after.risk).toBeLessThanOrEqual(before.risk + 1e-9);
        expect(after.atLeast).toBeGreaterThanOrEqual(before.atLeast);
        expect(before.risk >= 0 && before.risk <= 1).toBe(true);
        expect(before.atLeast >= 0.95).toBe(before.risk <= 0.05);
      }),
      { numRuns: 60 },
    );
  });

  it("names the fewest further records without a relevant one with which it is content", () => {
    const sizes = fc.record({ found: fc.integer({ min: 1, max: 30 }), waiting: fc.integer({ min: 0, max: 400 }) });
    fc.assert(
      fc.property(sizes, fc.constantFrom(0.5, 0.8, 0.95), ({ found, waiting }, confidence) => {
        const batches = [{ screened: 40, kept: found }];
        const wish = { target: 0.95, confidence };
        const riskAfter = (more: number) =>
          recallBound([...batches, { screened: more, kept: 0 }], { earlier: 0, waiting: waiting - more }, wish).risk;
        const more = remainingToScreen(batches, { earlier: 0, waiting }, wish);
        expect(more).toBeLessThanOrEqual(waiting);
        expect(riskAfter(more)).toBeLessThan(1 - confidence);
        if (more > 0) expect(riskAfter(more - 1)).toBeGreaterThanOrEqual(1 - confidence);
      }),
      { numRuns: 60 },
    );
  });

  it("keeps its promise in 95 of 100 reviews whose order is somewhat better than chance", () => {
    let kept = 0;
    for (let review = 0; review < 100; review++) {
      const random = randomFrom(review + 1);
      const relevant = 10 + Math.floor(random() * 60);
      // Relevant records come twice as early as others.
      const order = Array.from({ length: 600 }, (_, index) => ({
        is: index < relevant,
        at: random() * (index < relevant ? 0.5 : 1),
      }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ is }) => is);
      const batches: ScreenedBatch[] = [];
      let found = 0;
      for (let at = 0; at < order.length; at += 20) {
        const batch = order.slice(at, at + 20).filter(Boolean).length;
        found += batch;
        batches.push({ screened: 20, kept: batch });
        if (recallBound(batches, { earlier: 0, waiting: order.length - at - 20 }, asked).risk < 0.05) break;
      }
      if (found >= 0.95 * relevant) kept += 1;
    }
    expect(kept).toBeGreaterThanOrEqual(95);
  });

  it("answers for a hundred thousand records", () => {
    const { risk } = recallBound(none(500), { earlier: 40, waiting: 95_000 }, asked);
    expect(risk).toBeGreaterThan(0.05);
  });
});

/** Numbers from 0 to 1, the same for one seed. */
function randomFrom(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}
