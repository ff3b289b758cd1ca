import { expect, test } from "vitest";
import { maxPassageChars, passagesOf } from "../../../src/research/overview/questions/passages.js";
import { countWords, openVocabulary, textIndexBuilder } from "../../../src/research/overview/questions/text-index.js";

const sentence = (n: number) => `In trial ${n} the gripper held the object for a minute without dropping it once.`;
const method = "## 1 Method\n\n";
const body = Array.from({ length: 40 }, (_, n) => sentence(n)).join(" ");
const list =
  "## References\n\n[1] Adams, A. Grasping. 2019.\n[2] Brown, B. Holding things. 2020.\n[3] Clark, C. On hands, 2021.\n";
const text = `${method}${body}\n\n${list}`;
const marks = [
  { at: 0, label: "§ 1 Method" },
  { at: text.indexOf("## References"), label: "§ References" },
];

test("passages end with sentences, are short, carry their section, and leave references out", () => {
  const passages = passagesOf({ text, marks });
  const said = passages.map(({ start, end }) => text.slice(start, end));
  expect(Math.max(...said.map(({ length }) => length))).toBeLessThanOrEqual(maxPassageChars);
  for (const each of said) expect(each.trim()).toMatch(/once\.$/);
  expect(new Set(passages.map(({ locator }) => locator))).toEqual(new Set(["§ 1 Method"]));
  expect(said.join("")).toContain(sentence(39));
  expect(said.join("")).not.toContain("Brown");
});

test("a heading alone is no passage", () => {
  expect(passagesOf({ text: "## 3 Results and what follows from them", marks: [] })).toEqual([]);
});

test("British and American endings are one word, and the rarer word counts more", () => {
  const vocabulary = openVocabulary();
  const builder = textIndexBuilder();
  for (const said of ["randomisation of hands", "hands and fingers", "fingers of hands"])
    builder.add(countWords([vocabulary.idsOf(said)]));
  const index = builder.build();
  const [randomised] = vocabulary.idsOf("randomization");
  const [hands] = vocabulary.idsOf("hand");
  const scores = new Float64Array(index.size);
  index.score(new Map([[randomised ?? -1, 1]]), 1, scores);
  expect([...scores].map((score) => score > 0)).toEqual([true, false, false]);
  expect(index.rarity(randomised ?? -1)).toBeGreaterThan(index.rarity(hands ?? -1));
});
