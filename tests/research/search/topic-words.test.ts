import { expect, test } from "vitest";
import { requirementsOfTopic } from "../../../src/research/search/topic-words.js";

test.each([
  ["how do language-model agents search papers?", ["language-model agents search papers"]],
  ["papers about heat pumps in cold climates", ["heat pumps cold climates", "heat pumps", "cold climates"]],
  ["what does research say about case studies?", ["say case studies", "case studies"]],
])("the keywords of %j are its own words, and its name is the whole of it", (topic, wanted) => {
  const { name, keywords } = requirementsOfTopic(topic);
  expect({ name, keywords }).toEqual({ name: topic, keywords: wanted });
});
