import { expect, it } from "vitest";
import { orderLike } from "../../../../../src/engine/storage/state/hand-edits/order-like.js";

it("puts fields and records into the order of an earlier state, and changes and loses none", () => {
  const earlier = {
    name: "n",
    records: [
      { id: "a", title: "A", year: 1 },
      { id: "b", title: "B", year: 2 },
    ],
    rules: { list: [{ id: "r1", text: "x" }, { id: "r2" }], tags: ["one"] },
  };
  const later = {
    rules: { tags: ["two", "one"], list: [{ id: "r2" }, { text: "y", id: "r1" }] },
    records: [
      { year: 3, id: "c" },
      { year: 2, title: "B", id: "b" },
      { note: "mine", title: "A", id: "a" },
    ],
    more: null,
    name: "n",
  };
  const sorted = orderLike<Record<string, unknown>>(earlier, later);
  expect(JSON.stringify(sorted)).toBe(
    JSON.stringify({
      name: "n",
      records: [
        { id: "a", title: "A", note: "mine" },
        { id: "b", title: "B", year: 2 },
        { year: 3, id: "c" },
      ],
      // A person may have put rules into another order.
      rules: { list: [{ id: "r2" }, { id: "r1", text: "y" }], tags: ["two", "one"] },
      more: null,
    }),
  );
});
