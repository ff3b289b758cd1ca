import { describe, expect, it } from "vitest";
import { checkEvidence, hashOf, uncheckedReading } from "../../../src/text/evidence/check-evidence.js";
import { checkNumbers, numbersWithoutQuote } from "../../../src/text/evidence/numbers/check-numbers.js";
import { buildText } from "../../../src/text/documents/text/document-text.js";
import { readPdf } from "../../../src/text/documents/pdf/read-pdf.js";
import { makePdf } from "../../fixtures/pdf/make-pdf.js";

const first =
  "Policies trained in simulation transfer to the physical gripper only when contact parameters are randomised broadly, including friction between 0.2 and 1.4.";
const second =
  "Across 600 physical trials the randomised policy succeeded in 87.5 percent, while the unrandomised baseline succeeded in 41.0 percent.";

async function paper() {
  const filler =
    "Further considerations regarding instrumentation follow without consequence for anything measured elsewhere.";
  const pages = [
    [filler, first, filler],
    [...Array.from({ length: 4 }, () => filler), second, filler],
  ];
  const read = await readPdf(await makePdf({ columns: 2, pages }));
  if (read.status !== "ok") throw new Error(read.reason);
  return read.text;
}

describe("checkEvidence", () => {
  it("verifies quotes of a two-column PDF, and says on which page each was found whatever the agent said", async () => {
    const text = await paper();
    const checked = checkEvidence(
      [
        { claim: "randomise widely", quote: first, locator: "p. 9" },
        { claim: "it doubles success", quote: second },
        { claim: "it triples success", quote: second.replace("87.5", "97.5"), locator: "p. 2" },
      ],
      text,
    );
    expect(checked.evidence.map(({ status, locator }) => [status, locator])).toEqual([
      ["verified", "p. 1"],
      ["verified", "p. 2"],
      ["not-in-text", null],
    ]);
    expect(checked).toMatchObject({ verified: 2, notInText: 1, couldNotCheck: 0 });
    expect(checked.evidence.every((item) => item.text_sha256 === text.sha256)).toBe(true);
    expect(checked.missing).toHaveLength(1);
    expect(checked.missing[0]?.nearest).toContain("87.5");
  });

  it("says of each quote that counts for nothing whether it is missing or too short", async () => {
    const { evidence, missing } = checkEvidence(
      [
        { claim: "it was measured", quote: "600 physical" },
        { claim: "it triples success", quote: second.replace("87.5", "97.5") },
      ],
      await paper(),
    );
    expect(evidence.map(({ status }) => status)).toEqual(["not-in-text", "not-in-text"]);
    expect(missing.map(({ why }) => why)).toEqual(["too short to be evidence", "not found in the text"]);
  });

  it("counts a quote once, however many claims it stands under and however it is spaced", async () => {
    const invented = second.replace("87.5", "97.5");
    const quotes = [
      first,
      `“${first}”`,
      first.toUpperCase(),
      first.replaceAll(" ", "\n"),
      second,
      invented,
      ` ${invented}`,
    ];
    const items = quotes.map((quote, index) => ({ claim: `claim ${index}`, quote }));
    const checked = checkEvidence(items, await paper());
    expect(checked).toMatchObject({ verified: 2, notInText: 1, couldNotCheck: 0 });
    expect(checked.missing).toHaveLength(1);
    expect(checked.evidence.map(({ claim }) => claim)).toEqual(items.map(({ claim }) => claim));
    expect(checkEvidence(items, undefined)).toMatchObject({ couldNotCheck: 3 });
  });

  it("calls nothing false without a text", () => {
    const checked = checkEvidence([{ claim: "a", quote: "anything at all", locator: "p. 3" }], undefined);
    expect(checked).toEqual({
      evidence: [{ claim: "a", quote: "anything at all", status: "could-not-check", locator: "p. 3" }],
      given: 1,
      verified: 0,
      near: 0,
      notInText: 0,
      couldNotCheck: 1,
      missing: [],
    });
  });

  it("calls a quote near whose number differs in unit or rounding alone, and says what differs", async () => {
    const items = [
      { claim: "rounded", quote: second.replace("87.5 percent", "88 percent") },
      { claim: "to the digit", quote: second.replace("600", "590") },
      { claim: "more digits than the paper", quote: second.replace("87.5", "87.49") },
      { claim: "another number", quote: second.replace("87.5", "87.6") },
    ];
    const checked = checkEvidence(items, await paper());
    expect(checked.evidence.map(({ status }) => status)).toEqual(["near", "not-in-text", "not-in-text", "not-in-text"]);
    expect(checked).toMatchObject({ verified: 0, near: 1, notInText: 3 });
    expect(checked.evidence[0]).toMatchObject({ locator: "p. 2", reason: expect.stringContaining("87.5 percent") });
  });

  it("calls a number near that is written otherwise, and none that is another", () => {
    const text = buildText([{ text: "In all it took 4873 ms to close. The hand did not hold 40.4 percent of them." }], {
      kind: "text",
      depth: "full",
    });
    const quotes = ["In all it took 4.9 s to close", "hold 45 percent of them"];
    const { evidence } = checkEvidence(
      quotes.map((quote) => ({ claim: "c", quote })),
      text,
    );
    expect(evidence.map(({ status }) => status)).toEqual(["near", "not-in-text"]);
  });

  it("finds a quote in the abstract that the agent was shown, and says that it stands there", async () => {
    const abstract = "We show that soft skins keep their grip for nine hours of work.";
    const items = [
      { claim: "it keeps", quote: "soft skins keep their grip for nine hours" },
      { claim: "it loses", quote: "soft skins lose their grip after nine hours" },
    ];
    const statuses = (text: Awaited<ReturnType<typeof paper>> | undefined) =>
      checkEvidence(items, text, abstract).evidence.map(({ status, locator }) => [status, locator]);
    expect(statuses(await paper())).toEqual([
      ["verified", "abstract"],
      ["not-in-text", null],
    ]);
    expect(statuses(undefined)).toEqual([
      ["verified", "abstract"],
      ["could-not-check", null],
    ]);
    // The text that proves it is the abstract.
    expect(checkEvidence(items, await paper(), abstract).evidence[0]?.text_sha256).toBe(hashOf(abstract));
    expect(checkEvidence(items, undefined, " ").evidence.map(({ status }) => status)).toEqual([
      "could-not-check",
      "could-not-check",
    ]);
  });

  it("keeps what a claim compares, and gives a reason only where there is more than that it was not found", () => {
    const about = { outcome: "grip", compared: "gloves", direction: "up" } as const;
    const text = buildText([{ text: "We hold hands." }], { kind: "text", depth: "full" });
    const { evidence } = checkEvidence([{ claim: "c", quote: "soft hands keep their grip", about }], text);
    expect(evidence).toEqual([
      {
        claim: "c",
        quote: "soft hands keep their grip",
        status: "not-in-text",
        locator: null,
        text_sha256: text.sha256,
        about,
      },
    ]);
  });

  it("says of each quote why none was looked for where the check was cut off, and calls nothing false", () => {
    const claims = [{ claim: "c", quote: "soft hands keep their grip" }];
    const reading = uncheckedReading(claims, "it took too long");
    expect(reading).toMatchObject({ couldNotCheck: 1, notInText: 0, verified: 0, numbers: [], missing: [] });
    expect(reading.evidence).toMatchObject([{ status: "could-not-check", reason: "it took too long" }]);
  });

  it("takes the title of a cited work for no evidence, however its list is headed", () => {
    const title = "Soft hands keep their grip for nine hours";
    const list = [title, "Valves of small machines", "Encoders that last"].map(
      (each, index) => `[${index + 1}] A. Lee. ${each}. Journal of Hands, 20${index + 10}.`,
    );
    const why = "it is in the list of references, which is not evidence";
    for (const heading of ["References", "## References"]) {
      const text = buildText([{ text: `We hold hands.\n\n${heading}\n\n${list.join("\n")}` }], {
        kind: "text",
        depth: "full",
      });
      const { evidence, missing } = checkEvidence([{ claim: "c", quote: title }], text);
      expect(evidence[0]).toMatchObject({ status: "not-in-text", reason: why, locator: null });
      expect(missing).toMatchObject([{ quote: title, why }]);
    }
  });

  it("keeps the sentence of a quote and where its words stand in it, not how the agent spelt them", () => {
    const text = buildText([{ text: "The gripper does not hold wet spheres for nine hours. It was warm." }], {
      kind: "text",
      depth: "full",
    });
    const { evidence } = checkEvidence([{ claim: "it holds", quote: "HOLD wet [glass] spheres" }], text);
    expect(evidence).toEqual([
      {
        claim: "it holds",
        passage: "The gripper does not hold wet spheres for nine hours.",
        quoted: "21-37",
        status: "verified",
        locator: null,
        text_sha256: text.sha256,
      },
    ]);
  });

  it("names the numbers of a claim that the quoted words of none of its quotes hold", () => {
    const text = buildText(
      [{ text: "With 40 mg of the drug 12 of 52 patients slept for 8 h. Of the others 9 slept." }],
      { kind: "text", depth: "full" },
    );
    const claim = "40 mg gave 12 of 52 patients 11 hours";
    const { evidence } = checkEvidence([{ claim, quote: "12 of 52 patients slept for 8 h" }], text);
    expect(evidence[0]?.numbers).toEqual([
      { number: "40 mg", stands: "in-passage" },
      { number: "11 hours", stands: "nowhere" },
    ]);
    const both = [
      { claim, quote: "12 of 52 patients slept for 8 h" },
      { claim, quote: "With 40 mg of the drug" },
    ];
    expect(checkEvidence(both, text).evidence[0]?.numbers).toEqual([{ number: "11 hours", stands: "nowhere" }]);
  });
});

describe("checkNumbers", () => {
  const found = (quote: string) => ({ claim: "c", quote, status: "verified" as const });
  const statuses = async (said: string, quotes: readonly string[], text?: Awaited<ReturnType<typeof paper>>) =>
    checkNumbers(said, quotes.map(found), text).map(({ number, status }) => [number, status]);

  it("takes a quote that was found as the proof of a number, and the rest of the paper as a hint", async () => {
    const said = "Of 600 trials 87.5 percent succeeded, 41.0 percent without; in 4.9 s each, over 73 days and 3 sites.";
    expect(await statuses(said, ["succeeded in 87.5 percent within 4873 ms"], await paper())).toEqual([
      ["600", "in-text"],
      ["87.5 percent", "verified"],
      ["41.0 percent", "in-text"],
      ["4.9 s", "near"],
      ["73 days", "not-in-text"],
    ]);
  });

  it("keeps each number once, and sixty of them at most", async () => {
    expect(await statuses("It took 73 days, then 73 days.", [])).toHaveLength(1);
    const many = Array.from({ length: 70 }, (_, index) => `${100 + index} days`).join(", ");
    expect(await statuses(many, [])).toHaveLength(60);
  });

  it("calls no number false without a text, and none proved by a quote that was not found", async () => {
    expect(await statuses("It took 73 days.", [])).toEqual([["73 days", "could-not-check"]]);
    const lost = [{ claim: "c", quote: "it took 73 days in all", status: "not-in-text" as const }];
    expect(checkNumbers("It took 73 days.", lost, await paper())).toMatchObject([{ status: "not-in-text" }]);
  });
});

it("the numbers of a sentence without a quote are those that nobody knows, small counts and cited works aside", () => {
  const said =
    "In 2019, *Ten years of 8 mg in 500 hands*: 3 of 41 sites, 10 rooms and 2018 hands took 4.9 s over 73 days and 5 mg.";
  const quote = { passage: "With 5 mg it took 4873 ms at 41 sites.", quoted: "10-37" };
  expect(numbersWithoutQuote(said, [quote], [{ title: "Ten years of 8 mg in 500 hands", date: "2019-03" }])).toEqual({
    missing: ["2018", "73 days"],
    outside: ["5 mg"],
    near: [{ number: "4.9 s", quoted: "4873 ms" }],
  });
});

describe("a number whose unit stands outside the quoted words", () => {
  const quoteOf = (passage: string, words: string) => {
    const from = passage.indexOf(words);
    return { passage, quoted: `${from}-${from + words.length}` };
  };
  const passage = "The dose that was given was 250 mg per day in all.";

  it.each([
    ["It was 250 mg.", "The dose that was given was 250", { outside: ["250 mg"] }],
    ["It was 250.", "The dose that was given was 250", {}],
    ["It was 250 mg.", "The dose that was given was 250 mg", {}],
    ["It was 251 mg.", "The dose that was given was 250", { missing: ["251 mg"] }],
  ])("%s of the words %s", (said, words, found) => {
    expect(numbersWithoutQuote(said, [quoteOf(passage, words)])).toEqual({
      missing: [],
      outside: [],
      near: [],
      ...found,
    });
  });

  it("is that of a range or below a stroke too, and proves no number of the results", async () => {
    const range = quoteOf("The dose that was given was 250–300 mg in all.", "The dose that was given was 250");
    expect(numbersWithoutQuote("It was 250 mg.", [range]).outside).toEqual(["250 mg"]);
    const stroke = quoteOf("The level that was seen was 250 mg/L in all.", "The level that was seen was 250 mg");
    expect(numbersWithoutQuote("It was 250 mg/L.", [stroke]).outside).toEqual(["250 mg/L"]);
    expect(numbersWithoutQuote("It was 250 mg.", [stroke]).outside).toEqual([]);
    const evidence = { claim: "c", status: "verified" as const, ...quoteOf(passage, "that was given was 250") };
    expect(checkNumbers("It was 250 mg.", [evidence], await paper())).toMatchObject([{ status: "not-in-text" }]);
  });

  it("is a number whose minus stands before the quoted words", () => {
    const cut = { passage: "A change of −25 points was seen.", quoted: "13-22" };
    expect(numbersWithoutQuote("It changed by −25 points.", [cut]).outside).toEqual(["−25"]);
    expect(numbersWithoutQuote("It changed by −25 points.", [{ ...cut, quoted: "12-22" }]).outside).toEqual([]);
  });

  it("is named with its minus", () => {
    expect(numbersWithoutQuote("It changed by −25 %.", [quoteOf(passage, "that was given")]).missing).toEqual([
      "−25 %",
    ]);
  });
});
