import fc, { anyText } from "../../support/runner/fast-check.js";
import { expect, test } from "vitest";
import { newRrd, slug } from "../../../src/research/workflow/new-research.js";

test.each([
  ["Über Größe: the Øresund study", "uber-grosse-the-oresund-study"],
  ["Sim2Real  Transfer / Hands!", "sim2real-transfer-hands"],
  ["灵巧手的触觉", "灵巧手的触觉"],
  ["Тактильные датчики й", "тактильные-датчики-й"],
  ["연구 주제", "연구-주제"],
  ["⚙️ 🤖", "research"],
  ["con", "con"],
  ["Does tactile sensing help robots with insertion?", "does-tactile-sensing-help-robots-with"],
  ["a".repeat(50), "a".repeat(40)],
])("the name %j gives the slug %j", (name, expected) => {
  expect(slug(name)).toBe(expected);
});

test("two topics without a Latin letter have two names", () => {
  expect(slug("灵巧手的触觉 literature")).not.toBe(slug("机器人抓取 literature"));
});

test("a slug is a file name on every system, whatever the topic holds: at most 40 bytes, letters, digits and hyphens between them", () => {
  fc.assert(
    fc.property(anyText({ maxLength: 120 }), (name) => {
      const made = slug(name);
      expect(Buffer.byteLength(made)).toBeLessThanOrEqual(40);
      expect(made).toMatch(/^[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(-[\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*$/u);
    }),
    { numRuns: 500, seed: 1 },
  );
});

const requirements = { name: "Hands", description: "On hands.", focus_area: "hands", keywords: ["hands"] };

test.each([
  ["original", ["arxiv"], []],
  ["original", ["samples"], []],
  ["original", ["folder:papers", "arxiv"], []],
  ["none", ["folder:papers", "Embase=embase.ris"], []],
  ["none", ["arxiv"], [{ kind: "include", text: "robot hands" }]],
] as const)(
  "papers get points by the rubric %s where the sources are %j and the criteria %j",
  (is, sources, criteria) => {
    const rrd = newRrd({ papers: 4, sources, criteria: [...criteria] }, requirements as never);
    expect([rrd.rubric, rrd.handoff?.product_ideation?.enabled]).toEqual([is, is === "original"]);
  },
);
