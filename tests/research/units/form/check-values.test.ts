import { describe, expect, test } from "vitest";
import { buildText } from "../../../../src/text/documents/text/document-text.js";
import type { Field } from "../../../../src/research/generated/rrd.js";
import { checkValues } from "../../../../src/research/units/form/check-values.js";

const text = buildText(
  [
    {
      text: "We randomised 48 patients: 24 to the drug and 24 to placebo. Six patients left the study. The drug was given at 0.5 g per day. No serious event was seen in any arm.",
    },
  ],
  { kind: "markdown", depth: "full" },
);
const field = (type?: Field["type"], more: Partial<Field> = {}): Field => ({
  id: "f",
  name: "the field",
  ...(type === undefined ? {} : { type }),
  ...more,
});
const check = async (asked: Field, value: string | number | string[], ...quotes: string[]) => {
  const { extracted } = await checkValues([asked], { f: { value, quotes } }, text, {});
  return extracted[0];
};

describe("a value", () => {
  test("keeps the paper's own sentence, whatever the quote was spelt like", async () => {
    const kept = await check(field(), "48 patients", "we randomised 48 patients");
    expect(kept).toMatchObject({ status: "verified", value: "48 patients" });
    expect(kept?.evidence?.[0]).toMatchObject({
      passage: "We randomised 48 patients: 24 to the drug and 24 to placebo.",
      quoted: "0-25",
    });
  });

  test.each<[string, Field, string | number | string[], string, string]>([
    ["whose number is in no passage", field(), "50 patients", "We randomised 48 patients", "not-in-text"],
    ["whose quote is invented", field(), "open label", "The trial was open label throughout", "not-in-text"],
    ["of a number that is spelt", field("number"), 6, "Six patients left the study", "verified"],
    ["of a small number that is another", field("number"), 7, "Six patients left the study", "not-in-text"],
    ["that is no number", field("number"), "many", "Six patients left the study", "not-in-text"],
    ["in another unit", field("number", { unit: "mg" }), "500", "The drug was given at 0.5 g per day", "near"],
    ["of no choice", field("choice", { choices: ["a", "b"] }), "c", "and 24 to placebo", "not-in-text"],
    ["of a list", field("list"), ["drug", "placebo"], "24 to the drug and 24 to placebo", "verified"],
    ["of no date", field("date"), "last May", "Six patients left the study", "not-in-text"],
  ])("%s", async (_name, asked, value, quote, status) => {
    expect((await check(asked, value, quote))?.status).toBe(status);
  });

  test("without a quote counts for nothing, and one that is not reported has none", async () => {
    expect(await check(field(), "48")).toMatchObject({ status: "not-in-text", reason: "It has no quote." });
    const { extracted } = await checkValues([field()], { f: { not_reported: true } }, text, {});
    expect(extracted).toEqual([{ field: "f", status: "not-reported" }]);
  });

  test("of a choice is spelt as the form spells it", async () => {
    const design = field("choice", { choices: ["Placebo", "usual care"] });
    expect(await check(design, "placebo", "24 to the drug and 24 to placebo")).toMatchObject({
      value: "Placebo",
      status: "verified",
    });
  });
});

describe("a form", () => {
  test("that is not filled in at all is refused, one field that was left out is not", async () => {
    const two = [field(), { ...field(), id: "g" }];
    expect((await checkValues(two, undefined, text, {})).reasons).toHaveLength(1);
    const { extracted, reasons } = await checkValues(two, { f: { not_reported: true } }, text, {});
    expect(reasons).toEqual([]);
    expect(extracted.map(({ status }) => status)).toEqual(["not-reported", "not-answered"]);
  });

  test("most of whose quotes are invented is refused", async () => {
    const said = {
      f: { value: "a", quotes: ["a quote that nobody ever wrote down", "another of that kind, also invented"] },
    };
    expect((await checkValues([field()], said, text, {})).reasons[0]).toMatch(/only 0 of 2 quotes/);
  });
});
