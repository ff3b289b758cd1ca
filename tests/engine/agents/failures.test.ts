import { describe, expect, it } from "vitest";
import { quote, recogniseFailure } from "../../../src/engine/agents/failures.js";

const now = Date.parse("2026-11-21T12:00:00Z");
const kind = (text: string) => recogniseFailure(text, "it", now)?.kind;
const reset = (text: string) => recogniseFailure(text, "it", now)?.reset_at;
/** The next time at which a clock here shows this. */
function here(hour: number, minute: number): string {
  const time = new Date(now);
  time.setHours(hour, minute, 0, 0);
  if (time.getTime() <= now) time.setDate(time.getDate() + 1);
  return time.toISOString();
}

describe("recogniseFailure", () => {
  it.each([
    ["rate-limit", "API Error: Request rejected (429) · rate limit"],
    ["rate-limit", "exceeded retry limit, last status: 429 Too Many Requests"],
    ["rate-limit", "You've hit your usage limit. Try again at 3:04 PM."],
    ["rate-limit", "Claude AI usage limit reached|1795300000"],
    ["rate-limit", "HTTP 529 overloaded_error"],
    ["rate-limit", "5-hour limit reached ∙ resets 5pm"],
    ["rate-limit", "You're out of extra usage · resets 5pm (America/Los_Angeles)"],
    ["rate-limit", "Spending cap reached resets 7am"],
    ["rate-limit", "Your daily allowance is gone; available again tomorrow."],
    ["auth", "unexpected status 401 Unauthorized: Missing bearer"],
    ["auth", "HTTP 403 Forbidden"],
    [
      "auth",
      "HTTP 429 insufficient_quota: You exceeded your current quota, please check your plan and billing details.",
    ],
    ["auth", "Quota exceeded. Check your plan and billing details."],
    ["auth", "Invalid API key · Please run /login"],
    ["unusable", "unexpected status 400 Bad Request: The 'gpt-9' model is not supported"],
    ["unusable", "There's an issue with the selected model (nope). It may not exist or you may not have access to it."],
    ["unusable", "error: unexpected argument '--disable' found"],
    ["unusable", "error: unknown option '--tools'"],
    ["context", "prompt is too long: 210000 tokens > 200000 maximum"],
    ["auth", "HTTP 400 invalid_request_error: Your credit balance is too low to access the API"],
    ["network", "connect ECONNREFUSED 127.0.0.1:443"],
    ["network", "getaddrinfo ENOTFOUND api.example.org"],
    ["network", "unexpected status 503 Service Unavailable"],
    ["network", "stream disconnected before completion: error sending request for url"],
  ])("takes for %s: %s", (expected, text) => expect(kind(text)).toBe(expected));

  it.each([
    "TypeError: x is not a function at line 429",
    "wrote 401 lines",
    "read 503 papers",
    "npm warn Unknown user config",
    "time limit of the test reached in 3 s",
    "recursion limit reached",
    "2026-11-21 12:00:01 usage of memory: 12 MB",
    "command not found",
  ])("takes for nothing it knows: %s", (text) => expect(kind(text)).toBeUndefined());

  it.each([
    ["429 too many requests, retry-after: 90", "2026-11-21T12:01:30.000Z"],
    ["rate limit, try again in 2m 30s", "2026-11-21T12:02:30.000Z"],
    ["usage limit reached, try again in 1 day 2 hours", "2026-11-22T14:00:00.000Z"],
    ["Rate limit reached. Please try again in 250ms.", "2026-11-21T12:00:00.250Z"],
    ["Claude AI usage limit reached|1795300000", "2026-11-21T22:26:40.000Z"],
    ["rate limit resets at 2026-11-21T15:00:00Z", "2026-11-21T15:00:00.000Z"],
    ["usage limit reached; resets 3am (Pacific/Kiritimati)", "2026-11-21T13:00:00.000Z"],
    ["usage limit reached; resets 1:30am (Pacific/Kiritimati)", "2026-11-22T11:30:00.000Z"],
    ["session limit, resets 12am (UTC)", "2026-11-22T00:00:00.000Z"],
    ["You've hit your limit · resets 12pm (America/New_York)", "2026-11-21T17:00:00.000Z"],
    ["usage limit reached, resets at 17:45 (Asia/Kolkata)", "2026-11-21T12:15:00.000Z"],
    ["weekly limit, resets Nov 25, 5pm (Europe/Berlin)", "2026-11-25T16:00:00.000Z"],
    ["weekly limit, resets Jan 2, 5pm (Europe/Berlin)", "2027-01-02T16:00:00.000Z"],
    ["weekly limit, resets Mar 29 2027, 5pm (Europe/Berlin)", "2027-03-29T15:00:00.000Z"],
    ["usage limit; try again at Nov 30th, 2026 5:04 PM (UTC).", "2026-11-30T17:04:00.000Z"],
    ["usage limit. Try again at 3:04 PM.", here(15, 4)],
    ["usage limit reached. Come back in 3 hours.", "2026-11-21T15:00:00.000Z"],
    ["quota exceeded, try again after 13h36m0s", "2026-11-22T01:36:00.000Z"],
    ["429 too many requests; retry after 13h36m0s", "2026-11-22T01:36:00.000Z"],
    ["429 too many requests, Retry-After: 2 min", "2026-11-21T12:02:00.000Z"],
    ["usage limit; try again at 2026-11-23 09:30 UTC", "2026-11-23T09:30:00.000Z"],
    ["weekly limit, resets Monday at 9am (UTC)", "2026-11-23T09:00:00.000Z"],
    ["weekly limit, resets Sat 9am (UTC)", "2026-11-28T09:00:00.000Z"],
    ["weekly limit, resets Thursday (UTC)", "2026-11-26T00:00:00.000Z"],
    ["daily limit, available again tomorrow at 06:00 (UTC)", "2026-11-22T06:00:00.000Z"],
    ["usage limit; try again later, it resets 5pm (UTC)", "2026-11-21T17:00:00.000Z"],
    ["2026-11-23 09:30:00 rate limit", undefined],
    ["rate limit of 3 requests in 2 models", undefined],
    ["rate limit, resets 3am (Nowhere/Land)", undefined],
    ["rate limit, resets Foo 3, 3am (UTC)", undefined],
    ["rate limit; try again 3 times", undefined],
    ["rate limit", undefined],
  ])("reads when a limit ends: %s", (text, expected) => expect(reset(text)).toBe(expected));

  it("tells people to pay where the money is used up, and not to log in", () => {
    const said = recogniseFailure("error 429: insufficient_quota", "it", now)?.message;
    expect(said).toContain("Add credit");
    expect(said).not.toContain("Log in");
  });

  it("says what was said, in one sentence", () => {
    expect(recogniseFailure("debug\nfetch failed.\n\n", "it", now)?.message).toBe(
      "it got no answer from its model service: fetch failed.",
    );
  });
});

describe("the time at which a limit ends", () => {
  it.each([
    "rate limit; resets at 2026-13-45T99:99:99Z",
    "rate limit; retry-after: 99999999999999999999999999",
    "rate limit; try again in 999999999999999 d",
    "rate limit",
  ])("is left out where it is none: %s", (text) => {
    expect(recogniseFailure(text, "amp", 0)).toEqual({ kind: "rate-limit", message: expect.stringContaining("limit") });
  });
});

describe("quote", () => {
  it("prefers the line that tells of the error, and is short", () => {
    expect(quote("Error: no model\n  at main\nNode.js v20.20.2\n")).toBe("Error: no model");
    expect(quote("x".repeat(1000)).length).toBe(300);
    expect(quote("\n \n")).toBe("");
  });
});
