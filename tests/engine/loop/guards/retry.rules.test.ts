import { describe, expect, test } from "vitest";
import { firstAble, heedFailures, withinWallTime } from "../../../../src/engine/loop/guards/retry.js";
import { isVerdict, type Failure, type PastIteration } from "../../../../src/engine/loop/types.js";
import { accepted, failed, named, past, refused, soFar, start } from "../runs.js";

const second = 1000;
const minute = 60 * second;
const by = (agent: string, kind: Failure["kind"], at = 0, more: Partial<Failure> = {}) =>
  past(failed(kind, more), at, "paper_1", { agent });

describe("failures of a unit", () => {
  test("are told with its title and the last of them", () => {
    const three = [past(failed("crashed")), past(failed("crashed")), past(failed("idle"))];
    expect(heedFailures(soFar(three, minute))).toEqual({
      verdict: "failed",
      reason: "Paper paper_1: three failures in a row. The last: It was idle.",
    });
  });

  test("are waited for by what the last said, and only as long as it lies in the future", () => {
    const one = [past(failed("crashed"), minute)];
    expect(heedFailures(soFar(one, minute + 1999))).toEqual({
      until: start + minute + 2 * second,
      reason: "It was crashed.",
    });
    expect(heedFailures(soFar(one, minute + 2000))).toBeUndefined();
    expect(heedFailures(soFar([]))).toBeUndefined();
  });

  test.each(["rate-limit", "network", "auth"] as const)(
    "are none where the service was closed (%s): it has waits of its own",
    (kind) => {
      expect(heedFailures(soFar([past(failed(kind))]))).toBeUndefined();
      expect(heedFailures(soFar(Array.from({ length: 5 }, () => past(failed(kind)))))).toBeUndefined();
    },
  );

  test("count one full context less, wherever in the row it stands", () => {
    const row = (...kinds: Failure["kind"][]) =>
      isVerdict(
        heedFailures(
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
    expect(heedFailures(soFar([...old, ...since(63)], minute))).toMatchObject({ verdict: "failed" });
    expect(heedFailures(soFar([...old, ...since(64)], minute))).toBeUndefined();
  });

  test("of one unit are looked at beside those of another", () => {
    const three = (kind: Failure["kind"], id: string) => Array.from({ length: 3 }, () => past(failed(kind), 0, id));
    expect(
      heedFailures(
        soFar([past(accepted, 0, "paper_1"), ...three("idle", "paper_2"), past(refused, 0, "paper_3")], minute),
      ),
    ).toMatchObject({
      reason: expect.stringContaining("paper_2"),
    });
  });
});

describe("an agent that is alone", () => {
  const alone = firstAble([named("claude")], 60 * minute);
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

  test("is waited for under whatever name it stands in the past", () => {
    expect(wait([by("codex", "network")])).toEqual({ until: start + 2 * second, reason: "It was network." });
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
        "It was rate-limit. It named no time within a month at which it ends, and 60 minutes were not enough; run again when it is over.",
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
    ).toMatchObject({
      until: start + 2 * minute + 30 * second,
    });
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
    const at = (ms: number) => ({ resetAt: new Date(start + ms).toISOString() });
    expect(wait([by("claude", "rate-limit", minute, at(minute))])).toMatchObject({
      until: start + minute + 30 * second,
    });
    expect(wait([by("claude", "rate-limit", minute, at(minute + 1))])).toMatchObject({ until: start + minute + 1 });
    expect(wait([by("claude", "rate-limit", 0, { resetAt: "soon" })])).toMatchObject({ until: start + 30 * second });
  });

  test("meets one limit once however many were at work, and another once those have ended", () => {
    const limit = (from: number, to: number, id: string) =>
      past(failed("rate-limit"), to, id, { startedAt: start + from });
    expect(wait([limit(0, minute, "a"), limit(0, minute, "b"), limit(minute, 2 * minute, "c")])).toMatchObject({
      until: start + 3 * minute,
    });
    const untold = (to: number) => past(failed("rate-limit"), to, "a", { startedAt: undefined } as object);
    expect(wait([untold(0), untold(0)])).toMatchObject({ until: start + minute });
  });
});

describe("agents beside each other", () => {
  const three = firstAble([named("claude"), named("codex"), named("amp")], 60 * minute);
  const choose = (iterations: PastIteration[], now = 0) => three(soFar(iterations, now));

  test("each says why it rests and until when, those before the chosen one alone", () => {
    expect(choose([by("claude", "timeout"), by("amp", "idle")])).toEqual({
      agent: expect.objectContaining({ name: "codex" }),
      reason: "It was timeout. It is asked again from 2026-01-01 00:00 UTC on.",
    });
    expect(choose([by("claude", "auth"), by("codex", "idle", 90 * second)])).toEqual({
      agent: expect.objectContaining({ name: "amp" }),
      reason: "It was auth. It is left out of this run. It was idle. It is asked again from 2026-01-01 00:02 UTC on.",
    });
  });

  test("the earliest is waited for, with what each of them said", () => {
    const at = (minutes: number) => ({ resetAt: new Date(start + minutes * minute).toISOString() });
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
    ).toMatchObject({
      until: start + 2 * minute,
    });
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
    expect(() => firstAble([], minute)(soFar([]))).toThrow("no agent");
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
