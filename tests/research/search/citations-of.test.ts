import { expect, test } from "vitest";
import { citationsOf, linkQuestion } from "../../../src/research/search/snowballing.js";

test("a record found in what cites a paper cites it; one found among its references is cited by it; a query tells nothing", () => {
  const places = [
    { asked: linkQuestion("citations", "a"), seed: "a" },
    { asked: linkQuestion("citations", "a"), seed: "a" },
    { asked: linkQuestion("references", "b"), seed: "b" },
    { asked: "robot hands" },
  ];
  expect(citationsOf(places)).toEqual({ cites: ["a"], cited_by: ["b"] });
});
