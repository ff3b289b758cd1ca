import { describe, expect, test } from "vitest";
import { fieldsIn, fieldText, formProblems, formWith, parseField } from "../../../src/research/project-files/form.js";

describe("a typed field", () => {
  test.each([
    ["sample size: how many, per arm", { name: "sample size", ask: "how many, per arm" }],
    ["funding", { name: "funding" }],
    ["dose (number, mg): of the first arm", { name: "dose", ask: "of the first arm", type: "number", unit: "mg" }],
    ["design (choice: RCT | cohort)", { name: "design", type: "choice", choices: ["RCT", "cohort"] }],
    [
      "design (choice: RCT | cohort): as stated",
      { name: "design", ask: "as stated", type: "choice", choices: ["RCT", "cohort"] },
    ],
    ["start (date): of recruitment", { name: "start", ask: "of recruitment", type: "date" }],
    ["follow-up (in months): the longest", { name: "follow-up (in months)", ask: "the longest" }],
  ])("%s", (typed, field) => expect(parseField(typed)).toEqual(field));

  test.each([": how many", "design (choice: RCT)", "  "])("'%s' is refused with a cure", (typed) => {
    const problem = parseField(typed);
    expect(problem).toHaveProperty("problem", expect.stringMatching(/such as|as in/));
  });

  test.each([
    ["recall (nubmer, %): best", "nubmer"],
    ["size (integer): n", undefined],
    ["recall (percentage, %): best", "percentage"],
    ["design (chioce: RCT | cohort)", "chioce"],
    ["start (dates)", "dates"],
  ])("with a type that does not exist: '%s'", (typed, word) => {
    const problem = expect.stringMatching(
      new RegExp(`^'${word}' in .* the types are text, number, choice, date, list`),
    );
    if (word === undefined) expect(parseField(typed)).toMatchObject({ name: "size (integer)" });
    else expect(parseField(typed)).toEqual({ problem });
  });

  test("is written back as it was typed", () => {
    for (const typed of ["dose (number, mg): of the first arm", "design (choice: RCT | cohort)", "a: b"])
      expect(fieldText({ id: "x", name: "", ...parseField(typed) })).toBe(typed);
  });
});

describe("a form", () => {
  test("takes fields as objects, texts and pairs", () => {
    const form = fieldsIn({
      fields: [{ name: "dose", type: "number", unit: "mg" }, "funding", { outcome: "the main one" }],
    });
    expect(form).toEqual([
      { name: "dose", type: "number", unit: "mg" },
      { name: "funding" },
      { name: "outcome", ask: "the main one" },
    ]);
  });

  test.each([[{ fields: 1 }], ["text"], [[{ ask: 1 }]], [[{ name: "a", type: "colour" }]]])("%j is refused", (value) =>
    expect(fieldsIn(value)).toHaveProperty("problem"),
  );

  test("gives each field an id of its own, and takes the place of one of the same name", () => {
    const form = formWith([], [{ name: "Dose" }, { name: "dose?" }, { name: "用量" }]);
    expect(form.map(({ id }) => id)).toEqual(["dose", "dose-2", "field"]);
    expect(formWith(form, [{ name: "DOSE", ask: "per day" }])).toEqual([
      { id: "dose", name: "DOSE", ask: "per day" },
      ...form.slice(1),
    ]);
  });

  test("of two fields of one name, or of a choice without choices, is a problem", () => {
    const fields = [
      { id: "a", name: "Dose" },
      { id: "b", name: "dose" },
      { id: "c", name: "design", type: "choice" },
    ];
    expect(formProblems({ requirements: { fields } }).map(({ pointer }) => pointer)).toEqual([
      "/requirements/fields/1/name",
      "/requirements/fields/2",
    ]);
    const long = [{ id: "a", name: "a", ask: "word ".repeat(2000) }];
    expect(formProblems({ requirements: { fields: long } })).toHaveLength(1);
  });
});
