import { describe, expect, test } from "vitest";
import { firstAvailable, stopAfterFailures, withinWallTime } from "../../../src/engine/loop/retry.js";
import { isVerdict, type Failure, type PastIteration, type RunSoFar } from "../../../src/engine/loop/types.js";
import { accepted, failed, named, past, refused, soFar, start } from "./runs.js";

const second = 1000;
const minute = 60 * second;

describe("what the failures of a unit mean", () => {
  const delay = (iterations: PastIteration[], now = 0): number | undefined => {
    const answer = stopAfterFailures(soFar(iterations, now));
    return answer === undefined || isVerdict(answer) ? undefined : answer.until - start;
  };

  test("nothing, after an accepted or a refused result", () => {
    expect(stopAfterFailures(soFar([past(failed("crashed")), past(accepted)]))).toBeUndefined();
    expect(stopAfterFailures(soFar([past(failed("crashed")), past(refused)]))).toBeUndefined();
  });

  test.each(["timeout", "idle", "crashed", "no-answer"] as const)(
    "after %s it is tried again in two seconds",
    (kind) => {
      expect(delay([past(failed(kind))])).toBe(2 * second);
      expect(stopAfterFailures(soFar([past(failed(kind))], 2 * second))).toBeUndefined();
    },
  );

  test("three failures of one unit in a row end the run", () => {
    const three = [past(failed("crashed")), past(failed("timeout")), past(failed("idle"))];
    expect(stopAfterFailures(soFar(three, minute))).toMatchObject({
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
    expect(stopAfterFailures(soFar(three, minute))).toMatchObject({ verdict: "failed" });
  });

  test("failures of other units and accepted work in between do not add up to three", () => {
    expect(
      stopAfterFailures(
        soFar([past(failed("crashed")), past(failed("crashed"), 0, "paper_2"), past(failed("crashed"))], minute),
      ),
    ).toBeUndefined();
    expect(
      stopAfterFailures(
        soFar([past(failed("crashed")), past(accepted), past(failed("crashed")), past(failed("crashed"))], minute),
      ),
    ).toBeUndefined();
  });

  test("a network that was away in between neither counts as a failure nor ends the row", () => {
    const row = [past(failed("crashed")), past(failed("crashed")), past(failed("network"))];
    expect(isVerdict(stopAfterFailures(soFar(row, minute)))).toBe(false);
    expect(stopAfterFailures(soFar([...row, past(failed("crashed"))], minute))).toMatchObject({ verdict: "failed" });
  });

  test("the first context that fills is nobody's failure, further ones are", () => {
    const full = (count: number) => Array.from({ length: count }, () => past(failed("context")));
    expect(isVerdict(stopAfterFailures(soFar(full(3), minute)))).toBe(false);
    expect(stopAfterFailures(soFar(full(4), minute))).toMatchObject({ verdict: "failed" });
  });

  test("a brief too large for any agent fails at once", () => {
    expect(stopAfterFailures(soFar([past(failed("too-large"))]))).toMatchObject({
      verdict: "failed",
      reason: "It was too-large.",
    });
  });
});

describe("the choice of one agent", () => {
  test("an agent that can't do what is asked is not asked again", () => {
    const choice = firstAvailable([named("claude")], minute)(soFar([past(failed("unusable"))], 0));
    expect(choice).toMatchObject({ verdict: "failed", reason: "It was unusable." });
  });

  const choose = firstAvailable([named("claude")], 120 * minute);
  const delay = (iterations: PastIteration[], now = 0): number | undefined => {
    const answer = choose(soFar(iterations, now));
    return "until" in answer ? answer.until - start : undefined;
  };

  test("a rate limit is waited for until the stated reset", () => {
    const reset_at = new Date(start + 5 * 60 * minute).toISOString();
    expect(delay([past(failed("rate-limit", { reset_at }))])).toBe(5 * 60 * minute);
    expect(choose(soFar([past(failed("rate-limit", { reset_at }))], 5 * 60 * minute))).toMatchObject({
      agent: { name: "claude" },
    });
  });

  test("a stated reset that is over already is waited for as if none was stated: no hot loop", () => {
    expect(delay([past(failed("rate-limit", { reset_at: "2020-01-01T00:00:00Z" }))])).toBe(30 * second);
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
    const stated = past(failed("rate-limit", { reset_at: new Date(start + 119 * minute).toISOString() }), 0);
    expect(isVerdict(choose(soFar([stated, past(failed("rate-limit"), 119 * minute)], 121 * minute)))).toBe(false);
  });

  test("a stated reset is waited for up to a month ahead; one further away is none, and patience ends the wait", () => {
    const day = 24 * 60 * minute;
    const stated = (days: number) =>
      past(failed("rate-limit", { reset_at: new Date(start + days * day).toISOString() }), 0);
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
        expect(stopAfterFailures(soFar(Array.from({ length: tries }, () => past(failed(kind)))))).toBeUndefined();
  });
});

describe("the choice of several agents", () => {
  const choose = firstAvailable([named("claude"), named("codex"), named("amp")], 120 * minute);
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
    const limit = by("claude", "rate-limit", 0, { reset_at: new Date(start + 60 * minute).toISOString() });
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

  test("a limit without a stated reset lets it rest for a quarter of an hour at once, as another can work", () => {
    expect(chosen([by("claude", "rate-limit")], 15 * minute - 1)).toBe("codex");
    expect(chosen([by("claude", "rate-limit")], 15 * minute)).toBe("claude");
  });

  test("where all are limited the earliest is waited for", () => {
    const at = (minutes: number) => ({ reset_at: new Date(start + minutes * minute).toISOString() });
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
      reason: "It was auth. It is not used again in this run.",
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
  const at = (answer: ReturnType<typeof stopAfterFailures>) =>
    withinWallTime(10 * minute, () => answer)({ startedAt: start, now: start, iterations: [] } satisfies RunSoFar);
  expect(at({ until: start + 60 * minute, reason: "" })).toEqual({ until: start + 10 * minute, reason: "" });
  expect(at({ until: start + minute, reason: "" })).toEqual({ until: start + minute, reason: "" });
  expect(at(undefined)).toBeUndefined();
});
const by = (agent: string, kind: Failure["kind"], at = 0, more: Partial<Failure> = {}) =>
  past(failed(kind, more), at, "paper_1", { agent });

describe("failures of a unit", () => {
  test("are told with its title and the last of them", () => {
    const three = [past(failed("crashed")), past(failed("crashed")), past(failed("idle"))];
    expect(stopAfterFailures(soFar(three, minute))).toEqual({
      verdict: "failed",
      reason: "Paper paper_1: three failures in a row. The last: It was idle.",
    });
  });

  test("are waited for by what the last said, and only as long as it lies in the future", () => {
    const one = [past(failed("crashed"), minute)];
    expect(stopAfterFailures(soFar(one, minute + 1999))).toEqual({
      until: start + minute + 2 * second,
      reason: "It was crashed.",
    });
    expect(stopAfterFailures(soFar(one, minute + 2000))).toBeUndefined();
    expect(stopAfterFailures(soFar([]))).toBeUndefined();
  });

  test.each(["rate-limit", "network", "auth"] as const)(
    "are none where the service was closed (%s): it has waits of its own",
    (kind) => {
      expect(stopAfterFailures(soFar([past(failed(kind))]))).toBeUndefined();
      expect(stopAfterFailures(soFar(Array.from({ length: 5 }, () => past(failed(kind)))))).toBeUndefined();
    },
  );

  test("count one full context less, wherever in the row it stands", () => {
    const row = (...kinds: Failure["kind"][]) =>
      isVerdict(
        stopAfterFailures(
          soFar(
            kinds.map((kind) => past(failed(kind))),
            minute,
          ),
        ),
      );
    expect(row("context", "crashed", "crashed")).toBe(false);
    expect(row("crashed", "context", "crashed")).toBe(false);
    expect(row("context", "crashed", "crashed", "crashed")).toBe(true);
    expect(row("context", "context", "crashed", "crashed")).toBe(true);
  });

  test("of a unit that was done or given up long ago end nothing", () => {
    const old = Array.from({ length: 3 }, () => past(failed("crashed"), 0, "paper_old"));
    const since = (count: number) => Array.from({ length: count }, (_, n) => past(accepted, 0, `paper_${n}`));
    expect(stopAfterFailures(soFar([...old, ...since(63)], minute))).toMatchObject({ verdict: "failed" });
    expect(stopAfterFailures(soFar([...old, ...since(64)], minute))).toBeUndefined();
  });

  test("of one unit are looked at beside those of another", () => {
    const three = (kind: Failure["kind"], id: string) => Array.from({ length: 3 }, () => past(failed(kind), 0, id));
    expect(
      stopAfterFailures(
        soFar([past(accepted, 0, "paper_1"), ...three("idle", "paper_2"), past(refused, 0, "paper_3")], minute),
      ),
    ).toMatchObject({ reason: expect.stringContaining("paper_2") });
  });
});

describe("an agent that is alone", () => {
  const alone = firstAvailable([named("claude")], 60 * minute);
  const wait = (iterations: PastIteration[], now = 0) => alone(soFar(iterations, now));

  test("is chosen, with a reason for whoever watches it come back", () => {
    expect(wait([])).toEqual({
      agent: expect.objectContaining({ name: "claude" }),
      reason: "claude can be asked again.",
    });
  });

  test.each(["timeout", "idle", "crashed", "no-answer", "context", "aborted", "budget"] as const)(
    "goes on at once after %s",
    (kind) => {
      expect(wait([past(failed(kind))])).toMatchObject({ agent: { name: "claude" } });
    },
  );

  test("is not held up by what another one met, such as the agent of a role", () => {
    expect(wait([by("codex", "network")])).toMatchObject({ agent: { name: "claude" } });
  });

  test("is not asked again once it was not let in, whatever came of others later", () => {
    expect(wait([past(failed("auth")), past(accepted)])).toEqual({ verdict: "blocked", reason: "It was auth." });
    expect(wait([past(failed("missing"))])).toEqual({ verdict: "failed", reason: "It was missing." });
  });

  test("is given up after the patience in one sentence, counted from the first time", () => {
    const limits = [by("claude", "rate-limit", 0), by("claude", "rate-limit", 59 * minute)];
    expect(wait(limits, 60 * minute)).toEqual({
      verdict: "blocked",
      reason:
        "It was rate-limit. It gave no reset time within a month, and waiting 60 minutes was not enough; run again when the limit is over.",
    });
    expect(isVerdict(wait(limits, 60 * minute - 1))).toBe(false);
    const away = [by("claude", "network", 0), by("claude", "network", 59 * minute)];
    expect(wait(away, 60 * minute)).toEqual({
      verdict: "blocked",
      reason: "It was network. It did not answer for 60 minutes; run again when it does.",
    });
    expect(isVerdict(wait(away, 60 * minute - 1))).toBe(false);
  });

  test("is waited for afresh after it has answered in between", () => {
    const row = [by("claude", "network", 0), past(accepted, minute), by("claude", "network", 2 * minute)];
    expect(wait(row, 2 * minute)).toMatchObject({ until: start + 2 * minute + 2 * second });
    expect(
      wait(
        [by("claude", "rate-limit", 0), by("claude", "network", minute), by("claude", "rate-limit", 2 * minute)],
        2 * minute,
      ),
    ).toMatchObject({ until: start + 2 * minute + 30 * second });
    expect(isVerdict(wait([by("claude", "network", 0), by("claude", "rate-limit", 61 * minute)], 61 * minute))).toBe(
      false,
    );
    expect(
      isVerdict(
        wait(
          [by("claude", "rate-limit", 0), past(refused, minute), by("claude", "rate-limit", 61 * minute)],
          61 * minute,
        ),
      ),
    ).toBe(false);
  });

  test("has a stated reset only where it lies after the failure", () => {
    const at = (ms: number) => ({ reset_at: new Date(start + ms).toISOString() });
    expect(wait([by("claude", "rate-limit", minute, at(minute))])).toMatchObject({
      until: start + minute + 30 * second,
    });
    expect(wait([by("claude", "rate-limit", minute, at(minute + 1))])).toMatchObject({ until: start + minute + 1 });
    expect(wait([by("claude", "rate-limit", 0, { reset_at: "soon" })])).toMatchObject({ until: start + 30 * second });
  });

  test("meets one limit once however many were at work, and another once those have ended", () => {
    const limit = (from: number, to: number, id: string) =>
      past(failed("rate-limit"), to, id, { startedAt: start + from });
    expect(wait([limit(0, minute, "a"), limit(0, minute, "b"), limit(minute, 2 * minute, "c")])).toMatchObject({
      until: start + 3 * minute,
    });
  });
});

describe("agents beside each other", () => {
  const three = firstAvailable([named("claude"), named("codex"), named("amp")], 60 * minute);
  const choose = (iterations: PastIteration[], now = 0) => three(soFar(iterations, now));

  test("each says why it rests and until when, those before the chosen one alone", () => {
    expect(choose([by("claude", "timeout"), by("amp", "idle")])).toEqual({
      agent: expect.objectContaining({ name: "codex" }),
      reason: "It was timeout. It is asked again from 2026-01-01 00:00 UTC.",
    });
    expect(choose([by("claude", "auth"), by("codex", "idle", 90 * second)])).toEqual({
      agent: expect.objectContaining({ name: "amp" }),
      reason:
        "It was auth. It is not used again in this run. It was idle. It is asked again from 2026-01-01 00:02 UTC.",
    });
  });

  test("the earliest is waited for, with what each of them said", () => {
    const at = (minutes: number) => ({ reset_at: new Date(start + minutes * minute).toISOString() });
    const all = [by("claude", "rate-limit", 0, at(3)), by("codex", "rate-limit", 0, at(2)), by("amp", "network", 0)];
    expect(choose(all)).toEqual({
      until: start + 2 * second,
      reason: "It was rate-limit. It was rate-limit. It was network.",
    });
    expect(choose([by("claude", "missing"), by("codex", "auth"), by("amp", "network")])).toEqual({
      until: start + 2 * second,
      reason: "It was network.",
    });
    expect(
      choose([
        by("claude", "rate-limit", 0, at(2)),
        by("codex", "rate-limit", 0, at(2)),
        by("amp", "rate-limit", 0, at(2)),
      ]),
    ).toMatchObject({ until: start + 2 * minute });
  });

  test("where none is left, what happened to the first of them ends the run", () => {
    expect(choose([by("claude", "missing"), by("codex", "auth"), by("amp", "auth")])).toEqual({
      verdict: "failed",
      reason: "It was missing.",
    });
  });

  test("patience ends with the last of those that can be used", () => {
    const away = (agent: string) => [by(agent, "network", 0), by(agent, "network", 59 * minute)];
    const gone = [by("codex", "auth"), by("amp", "missing")];
    expect(choose([...away("claude"), ...gone], 60 * minute)).toMatchObject({
      verdict: "blocked",
      reason: expect.stringContaining("60 minutes"),
    });
    expect(isVerdict(choose([...away("claude"), by("codex", "auth")], 60 * minute))).toBe(false);
    // What was left out before does not say why there is nobody left.
    const first = [by("claude", "auth"), ...away("codex"), by("amp", "missing")];
    expect(choose(first, 60 * minute)).toMatchObject({ reason: expect.stringContaining("60 minutes") });
    // One that only rests is no reason to give up.
    expect(isVerdict(choose([...away("claude"), ...away("amp"), by("codex", "idle", 60 * minute)], 60 * minute))).toBe(
      false,
    );
  });

  test("a crash keeps one of several away longer each time, by its own failures alone", () => {
    const crashes = (count: number) => Array.from({ length: count }, () => by("claude", "crashed"));
    const back = (count: number, now: number) => {
      const answer = choose(
        [...crashes(count), by("codex", "crashed"), past(accepted, 0, "p", { agent: "codex" })],
        now,
      );
      return "agent" in answer && answer.agent.name === "claude";
    };
    expect([
      back(1, 30 * second),
      back(2, 30 * second),
      back(2, 60 * second),
      back(9, 899 * second),
      back(9, 900 * second),
    ]).toEqual([true, false, true, false, true]);
  });

  test("without any agent there is nothing to choose: a bug of whoever asks", () => {
    expect(() => firstAvailable([], minute)(soFar([]))).toThrow("no agent");
  });
});

test("the time of a run cuts waits short and touches neither a verdict nor a choice", () => {
  const within = <T extends object | undefined>(answer: T) =>
    withinWallTime(10 * minute, () => answer)({ ...soFar([]), startedAt: start });
  const verdict = { verdict: "blocked" as const, reason: "gone", until: Number.MAX_SAFE_INTEGER };
  expect(within(verdict)).toBe(verdict);
  const choice = { agent: named("claude") };
  expect(within(choice)).toBe(choice);
  expect(within(undefined)).toBeUndefined();
  expect(within({ until: start + 60 * minute, reason: "limit" })).toEqual({
    until: start + 10 * minute,
    reason: "limit",
  });
});
