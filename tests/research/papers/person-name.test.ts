import { expect, test } from "vitest";
import { personName } from "../../../src/research/papers/person-name.js";

test.each([
  ["Ada Lovelace", { given: "Ada", family: "Lovelace" }],
  ["Lovelace, Ada", { given: "Ada", family: "Lovelace" }],
  ["Jan van der Berg", { given: "Jan", particle: "van der", family: "Berg" }],
  ["van der Berg, Jan", { given: "Jan", particle: "van der", family: "Berg" }],
  ["van Dijk JP", { given: "JP", particle: "van", family: "Dijk" }],
  ["Paré G", { given: "G", family: "Paré" }],
  ["Victor de Lamo Castrillo", { given: "Victor", particle: "de", family: "Lamo Castrillo" }],
  ["Vincent Van Gogh", { given: "Vincent", family: "Van Gogh" }],
  ["Vivi De La Rue", { given: "Vivi", family: "De La Rue" }],
  ["Duc Van Nguyen", { given: "Duc Van", family: "Nguyen" }],
  ["Amit K. Roy-Chowdhury", { given: "Amit K.", family: "Roy-Chowdhury" }],
  ["Lee, Ann, Jr.", { given: "Ann", family: "Lee", suffix: "Jr." }],
  ["Lee, Jr., Ann", { given: "Ann", family: "Lee", suffix: "Jr." }],
  ["John Smith III", { given: "John", family: "Smith", suffix: "III" }],
  ["Smith Jr., John", { given: "John", family: "Smith", suffix: "Jr." }],
  ["van den Berg, Jan-Willem 3rd", { given: "Jan-Willem", particle: "van den", family: "Berg", suffix: "3rd" }],
  ["van Dijk JP 3rd", { given: "JP", particle: "van", family: "Dijk", suffix: "3rd" }],
  ["Silva Junior, José", { given: "José", family: "Silva Junior" }],
  ["Ann Lee, Jr.", { given: "Ann", family: "Lee", suffix: "Jr." }],
  ["  Ann \t Lee ", { given: "Ann", family: "Lee" }],
])("%s is split", (name, parts) => {
  expect(personName(name)).toEqual(parts);
});

test.each([
  "OpenAI",
  "The ATLAS Collaboration",
  "World Health Organization",
  "Gemma Team, Google",
  "Institute of Robotics, Mechatronics, and Control",
  "Princeton University",
  "3rd Generation Partnership Project",
  "AT&T",
  "王小明",
])("%s stays whole", (name) => {
  expect(personName(name)).toEqual({ literal: name });
});
