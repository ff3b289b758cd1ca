import { describe, expect, test } from "vitest";
import { firstAble, heedFailures, withinWallTime } from "../../../../src/engine/loop/guards/retry.js";
import { isVerdict, type Failure, type PastIteration, type RunSoFar } from "../../../../src/engine/loop/types.js";
import { accepted, failed, named, past, refused, soFar, start } from "../runs.js";

const second = 1000;
const minute = 60 * second;

describe("what the failures of a unit mean", () => {
  const delay = (iterations: PastIteration[], now = 0): number | undefined => {
    const answer = heedFailures(soFar(iterations, now));
    return answer === undefined || isVerdict(answer) ? undefined : answer.until - start;
  };

  test("nothing, after an accepted or a refused result", () => {
    expect(heedFailures(soFar([past(failed("crashed")), past(accepted)]))).toBeUndefined();
    expect(heedFailures(soFar([past(failed("crashed")), past(refused)]))).toBeUndefined();
  });

  test.each(["timeout", "idle", "crashed", "no-answer"] as const)(
    "after %s it is tried again in two seconds",
    (kind) => {
      expect(delay([past(failed(kind))])).toBe(2 * second);
      expect(heedFailures(soFar([past(failed(kind))], 2 * second))).toBeUndefined();
    },
  );

  test("three failures of one unit in a row end the run", () => {
    const three = [past(failed("crashed")), past(failed("timeout")), past(failed("idle"))];
    expect(heedFailures(soFar(three, minute))).toMatchObject({
      verdict: "failed",
      reason: expect.stringContaining("three failures in a row"),
    });
  });

  test("three failures end the run also where another unit was accepted beside the last of them", () => {
    const three = [
      past(failed("crashed")),
      past(failed("crashed")),
      past(failed("crashed")),
      past(accepted, 0, "paper_2"),
    ];
    expect(heedFailures(soFar(three, minute))).toMatchObject({ verdict: "failed" });
  });

  test("failures of other units and accepted work in between do not add up to three", () => {
    expect(
      heedFailures(
        soFar([past(failed("crashed")), past(failed("crashed"), 0, "paper_2"), past(failed("crashed"))], minute),
      ),
    ).toBeUndefined();
    expect(
      heedFailures(
        soFar([past(failed("crashed")), past(accepted), past(failed("crashed")), past(failed("crashed"))], minute),
      ),
    ).toBeUndefined();
  });

  test("a network that was away in between neither counts as a failure nor ends the row", () => {
    const row = [past(failed("crashed")), past(failed("crashed")), past(failed("network"))];
    expect(isVerdict(heedFailures(soFar(row, minute)))).toBe(false);
    expect(heedFailures(soFar([...row, past(failed("crashed"))], minute))).toMatchObject({ verdict: "failed" });
  });

  test("the first context that fills is nobody's failure, further ones are", () => {
    const full = (count: number) => Array.from({ length: count }, () => past(failed("context")));
    expect(isVerdict(heedFailures(soFar(full(3), minute)))).toBe(false);
    expect(heedFailures(soFar(full(4), minute))).toMatchObject({ verdict: "failed" });
  });

  test("a brief too large for any agent fails at once", () => {
    expect(heedFailures(soFar([past(failed("too-large"))]))).toMatchObject({
      verdict: "failed",
      reason: "It was too-large.",
    });
  });
});

describe("the choice of one agent", () => {
  const choose = firstAble([named("claude")], 120 * minute);
  const delay = (iterations: PastIteration[], now = 0): number | undefined => {
    const answer = choose(soFar(iterations, now));
    return "until" in answer ? answer.until - start : undefined;
  };

  test("a rate limit is waited for until the stated reset", () => {
    const resetAt = new Date(start + 5 * 60 * minute).toISOString();
    expect(delay([past(failed("rate-limit", { resetAt }))])).toBe(5 * 60 * minute);
    expect(choose(soFar([past(failed("rate-limit", { resetAt }))], 5 * 60 * minute))).toMatchObject({
      agent: { name: "claude" },
    });
  });

  test("a stated reset that is over already is waited for as if none was stated: no hot loop", () => {
    expect(delay([past(failed("rate-limit", { resetAt: "2020-01-01T00:00:00Z" }))])).toBe(30 * second);
  });

  test("a rate limit without a reset is waited for 30 s, doubling up to 15 minutes", () => {
    const waits = [1, 2, 3, 4, 5, 6, 7].map((count) =>
      delay(Array.from({ length: count }, () => past(failed("rate-limit")))),
    );
    expect(waits).toEqual([30, 60, 120, 240, 480, 900, 900].map((seconds) => seconds * second));
  });

  test("a limit that several agents side by side meet together counts once", () => {
    const together = [0, 1, 2].map((at) =>
      past(failed("rate-limit"), at * second, `paper_${at}`, { startedAt: start - minute }),
    );
    expect(delay(together)).toBe(32 * second);
  });

  test("a rate limit never fails the run, however often it comes", () => {
    expect(isVerdict(choose(soFar(Array.from({ length: 200 }, () => past(failed("rate-limit"))))))).toBe(false);
  });

  test("a rate limit that never says when it ends blocks the run after the patience; stated resets before it do not count", () => {
    const row = [past(failed("rate-limit"), 0), past(failed("rate-limit"), 119 * minute)];
    expect(isVerdict(choose(soFar(row, 119 * minute)))).toBe(false);
    expect(choose(soFar(row, 120 * minute))).toMatchObject({
      verdict: "blocked",
      reason: expect.stringContaining("120 minutes"),
    });
    const stated = past(failed("rate-limit", { resetAt: new Date(start + 119 * minute).toISOString() }), 0);
    expect(isVerdict(choose(soFar([stated, past(failed("rate-limit"), 119 * minute)], 121 * minute)))).toBe(false);
  });

  test("a stated reset is waited for up to a month ahead; one further away is none, and patience ends the wait", () => {
    const day = 24 * 60 * minute;
    const stated = (days: number) =>
      past(failed("rate-limit", { resetAt: new Date(start + days * day).toISOString() }), 0);
    expect(delay([stated(31)])).toBe(31 * day);
    expect(delay([stated(32)])).toBe(30 * second);
    expect(choose(soFar([stated(32)], 120 * minute))).toMatchObject({
      verdict: "blocked",
      reason: expect.stringContaining("120 minutes"),
    });
  });

  test("a network is waited for 2 s, doubling up to 5 minutes", () => {
    const waits = [1, 2, 3, 8, 9].map((count) => delay(Array.from({ length: count }, () => past(failed("network")))));
    expect(waits).toEqual([2, 4, 8, 256, 300].map((seconds) => seconds * second));
  });

  test("a network that is away longer than the patience blocks the run", () => {
    const row = [past(failed("network"), 0), past(failed("network"), 119 * minute)];
    expect(isVerdict(choose(soFar(row, 119 * minute)))).toBe(false);
    expect(choose(soFar(row, 120 * minute))).toMatchObject({
      verdict: "blocked",
      reason: expect.stringContaining("120 minutes"),
    });
  });

  test("a login that is missing blocks at once, a program that is missing fails at once", () => {
    expect(choose(soFar([past(failed("auth"))]))).toMatchObject({ verdict: "blocked", reason: "It was auth." });
    expect(choose(soFar([past(failed("missing"))]))).toMatchObject({ verdict: "failed" });
    for (const kind of ["auth", "missing"] as const)
      for (const tries of [1, 3])
        expect(heedFailures(soFar(Array.from({ length: tries }, () => past(failed(kind)))))).toBeUndefined();
  });
});

describe("the choice of several agents", () => {
  const choose = firstAble([named("claude"), named("codex"), named("amp")], 120 * minute);
  const by = (agent: string, kind: Failure["kind"], at = 0, more: Partial<Failure> = {}) =>
    past(failed(kind, more), at, "paper_1", { agent });
  const chosen = (iterations: PastIteration[], now = 0) => {
    const answer = choose(soFar(iterations, now));
    return "agent" in answer ? answer.agent.name : answer;
  };

  test("the first does everything while it can", () => {
    expect(chosen([])).toBe("claude");
    expect(chosen([by("claude", "crashed"), past(refused)])).toBe("claude");
    expect(chosen([by("claude", "context")])).toBe("claude");
  });

  test.each(["rate-limit", "network", "timeout", "idle", "crashed", "no-answer"] as const)(
    "after %s the next one goes on, and says why",
    (kind) => {
      const answer = choose(soFar([by("claude", kind)]));
      expect(answer).toMatchObject({ agent: { name: "codex" }, reason: expect.stringContaining(`It was ${kind}.`) });
    },
  );

  test("the first is back once the stated reset is over", () => {
    const limit = by("claude", "rate-limit", 0, { resetAt: new Date(start + 60 * minute).toISOString() });
    const since = past(accepted, 30 * minute, "paper_1", { agent: "codex" });
    expect(chosen([limit, since], 59 * minute)).toBe("codex");
    expect(chosen([limit, since], 60 * minute)).toBe("claude");
  });

  test("without a stated reset it is back after 30 s, doubling each time it fails again", () => {
    expect(chosen([by("claude", "timeout")], 29 * second)).toBe("codex");
    expect(chosen([by("claude", "timeout")], 30 * second)).toBe("claude");
    expect(chosen([by("claude", "timeout"), by("claude", "timeout", 30 * second)], 89 * second)).toBe("codex");
    expect(chosen([by("claude", "timeout"), by("claude", "timeout", 30 * second)], 90 * second)).toBe("claude");
  });

  test("where all are limited the earliest is waited for", () => {
    const at = (minutes: number) => ({ resetAt: new Date(start + minutes * minute).toISOString() });
    const all = [
      by("claude", "rate-limit", 0, at(60)),
      by("codex", "rate-limit", 0, at(20)),
      by("amp", "rate-limit", 0, at(40)),
    ];
    expect(chosen(all)).toMatchObject({ until: start + 20 * minute });
    expect(chosen(all, 20 * minute)).toBe("codex");
  });

  test("one that is not let in is left out of the run, with its reason; where none is left the run is blocked", () => {
    expect(choose(soFar([by("claude", "auth")], 600 * minute))).toMatchObject({
      agent: { name: "codex" },
      reason: "It was auth. It is left out of this run.",
    });
    expect(chosen([by("claude", "auth"), by("codex", "missing")])).toBe("amp");
    expect(chosen([by("claude", "auth"), by("codex", "missing"), by("amp", "auth")])).toMatchObject({
      verdict: "blocked",
    });
  });

  test("a service that is away beyond the patience blocks only where no other agent is left", () => {
    const away = (agent: string) => [by(agent, "network", 0), by(agent, "network", 119 * minute)];
    expect(chosen(away("claude"), 121 * minute)).toBe("claude");
    expect(chosen([...away("claude"), ...away("codex"), ...away("amp")], 121 * minute)).toMatchObject({
      verdict: "blocked",
    });
  });
});

test("a wait ends with the run's wall time; verdicts and choices stay as they are", () => {
  const at = (answer: ReturnType<typeof heedFailures>) =>
    withinWallTime(10 * minute, () => answer)({ startedAt: start, now: start, iterations: [] } satisfies RunSoFar);
  expect(at({ until: start + 60 * minute, reason: "" })).toEqual({ until: start + 10 * minute, reason: "" });
  expect(at({ until: start + minute, reason: "" })).toEqual({ until: start + minute, reason: "" });
  expect(at(undefined)).toBeUndefined();
});
