import { describe, expect, test } from "vitest";
import { swapNumbers, reverseDirection } from "../../../../src/research/units/check/twins.js";

describe("a direction is turned", () => {
  test.each([
    ["Success rose from 41 % to 87 %.", "Success fell from 41 % to 87 %."],
    ["Higher gains came with more training.", "Lower gains came with more training."],
    ["The glove outperforms the camera.", "The glove falls behind the camera."],
  ])("%s", (said, twin) => expect(reverseDirection(said)).toBe(twin));

  test.each([
    ["the opposite may be true as well", "Grip strength did not increase."],
    ["the opposite may be true as well", "Grip strength may be higher with gloves."],
    ["the opposite may be true as well", "Grip was similar, and slightly higher with gloves."],
    ["which direction is meant is open", "Higher doses led to lower grip strength."],
    ["it has no direction", "Forty adults wore a glove."],
    ["the word is a part of another", "A higher-order model was fitted."],
  ])("only where it is surely false then: %s (%s)", (_, said) => expect(reverseDirection(said)).toBeUndefined());
});

describe("the numbers of two groups are changed for each other", () => {
  test.each([
    [
      "Success was 63 % without the delay and 70 % without it.",
      "Success was 70 % without the delay and 63 % without it.",
    ],
    ["Success rose from 41 % to 87 %.", "Success rose from 87 % to 41 %."],
    [
      "The volume was 59.7 ml (range, 0-200 ml) prone, compared with 59.5 ml (range, 0-180 ml) supine.",
      "The volume was 59.5 ml (range, 0-200 ml) prone, compared with 59.7 ml (range, 0-180 ml) supine.",
    ],
  ])("%s", (said, twin) => expect(swapNumbers(said)).toBe(twin));

  test.each([
    ["a range", "It took 5–7 minutes."],
    ["a spread", "It was 3.2 ± 0.4 mm in the first of the groups."],
    ["two units", "It took 5 minutes with the glove on, and 7 mm of cloth."],
    ["counts of unlike things", "In 30 adults with a glove 12 were seen."],
  ])("not those of %s", (_, said) => expect(swapNumbers(said)).toBeUndefined());
});
