import { expect, test } from "vitest";
import { spanInWords } from "../../../src/engine/lib/clock.js";

test.each([
  [1_800, "1.8 seconds"],
  [1_000, "1 second"],
  [60_000, "1 minute"],
  [5_400_000, "90 minutes"],
])("%i ms are called %s", (ms, words) => {
  expect(spanInWords(ms)).toBe(words);
});
