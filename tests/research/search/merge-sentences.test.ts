import { expect, test } from "vitest";
import { mergeSentences } from "../../../src/research/search/candidates.js";

test("a record is also found by another source, and not by its own", () => {
  const merged = ["arXiv", "OpenAlex"].map((source) => ({ id: "p1", source, why: "the same id" }));
  expect(mergeSentences({ id: "p1", source: "arXiv" }, { merged })).toEqual(["also found by OpenAlex"]);
});
