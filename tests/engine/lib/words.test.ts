import { expect, it } from "vitest";
import { joinedNames } from "../../../src/engine/lib/words.js";

it("names are five in a sentence, and how many more there are", () => {
  expect(joinedNames(["1", "2", "3", "4", "5"])).toBe("1, 2, 3, 4, 5");
  expect(joinedNames(["1", "2", "3", "4", "5", "6", "7"])).toBe("1, 2, 3, 4, 5 and 2 more");
});
