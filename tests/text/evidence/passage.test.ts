import { describe, expect, it } from "vitest";
import { findQuote } from "../../../src/text/evidence/find-quote.js";
import { maxPassageChars, passageAround } from "../../../src/text/evidence/passage.js";
import {
  clippedPassage,
  passageFields,
  notesOf,
  passageText,
  piecesOf,
  quotedWords,
} from "../../../src/text/evidence/quoted.js";
import fc from "../../support/runner/fast-check.js";

/** The passage of a stretch of the text, the stretch in ⟦ ⟧. */
function marked(text: string, ...stretches: readonly string[]): string {
  const spans = stretches.map((each) => ({ start: text.indexOf(each), end: text.indexOf(each) + each.length }));
  const { passage, quoted } = passageAround(text, spans);
  return [...quoted]
    .toReversed()
    .reduce((so, [from, to]) => `${so.slice(0, from)}⟦${so.slice(from, to)}⟧${so.slice(to)}`, passage);
}

describe("a passage is the whole sentence", () => {
  it.each([
    [
      "before a decimal point",
      "It was warm. At 0.1 mg it did not help them. So it ended.",
      "not help",
      "At 0.1 mg it did ⟦not help⟧ them.",
    ],
    [
      "over an abbreviation",
      "It was warm. Lee et al. Found no help (Fig. 2 B) in it. So.",
      "no help",
      "Lee et al. Found ⟦no help⟧ (Fig. 2 B) in it.",
    ],
    [
      "over initials",
      "It was so. As S. M. Lee said, it may help. So it ended.",
      "it may help",
      "As S. M. Lee said, ⟦it may help⟧.",
    ],
    [
      "not over a degree, which is no initial",
      "New radiators helped at 41 °C. The cost was 9,200 euros a flat. So.",
      "9,200 euros",
      "The cost was ⟦9,200 euros⟧ a flat.",
    ],
    [
      "over a name that shouts",
      "It was so. Only on Yahoo! Answers it did not help them. So.",
      "it did not",
      "Only on Yahoo! Answers ⟦it did not⟧ help them.",
    ],
    ["of a question", "It was so. Does it help? Nobody knows.", "it help", "Does ⟦it help⟧?"],
    [
      "over the lines of a file",
      "It was so. We found that\nit did not\nhelp them. So.",
      "not\nhelp",
      "We found that it did ⟦not help⟧ them.",
    ],
    [
      "before a number that begins the next",
      "A survey of 640 owners. 71 percent would buy one again. 12 percent were not content. So.",
      "71 percent",
      "⟦71 percent⟧ would buy one again.",
    ],
    [
      "behind a year, before a share",
      "It was so in 2023. 12.5 % of them fell (n = 48). 6 of 48 rose again. So.",
      "12.5 %",
      "⟦12.5 %⟧ of them fell (n = 48).",
    ],
    ["below a title", "Pumps and the peak\n\nPumps did not help. So.", "not help", "Pumps did ⟦not help⟧."],
    [
      "below a title, authors and a year",
      "Pumps and the peak\n\nJonas Lee and Petra Ray\n2023\n\n9 houses did not help. So.",
      "not help",
      "9 houses did ⟦not help⟧.",
    ],
    ["below a heading", "## Results\n\nIt did not help. So.", "not help", "It did ⟦not help⟧."],
    [
      "in a text without spaces",
      "第一句在这里。本研究发现药物没有效果。第三句。",
      "药物没有",
      "本研究发现⟦药物没有⟧效果。",
    ],
    ["in Arabic", "كانت البداية. لم يخفض العلاج الوفيات؟ ثم انتهى.", "يخفض العلاج", "لم ⟦يخفض العلاج⟧ الوفيات؟"],
  ])("%s", (_, text, stretch, passage) => {
    expect(marked(text, stretch)).toBe(passage);
  });

  it("that a page's end, its head or a broken word parts, without the page's mark", () => {
    expect(marked("We saw that it did\n\n[p. 2]\nnot help them. So.", "not help")).toBe(
      "We saw that it did ⟦not help⟧ them.",
    );
    expect(marked("We saw it was in-\n\nA. Lee et al.\n\n[p. 5]\neffective here. So.", "effective")).toMatch(
      /^We saw it was in- /,
    );
    expect(marked("It was so.\n\nWe stop here. So.", "We stop")).toBe("⟦We stop⟧ here.");
  });

  it("from the first stretch of several to the last", () => {
    expect(marked("A hand was. It held. It fell. It ended.", "It h", "fell")).toBe("⟦It h⟧eld. It ⟦fell⟧.");
  });
});

describe("a number behind a point", () => {
  const abbreviations = "Fig,No,p,pp,vol,et al,ca,approx,Sect,Ref,vs,max,Jan,Suppl,inkl,vgl,табл,e.g,U.S".split(",");
  it.each(abbreviations)("goes on behind %s.", (short) => {
    const text = `It was so. They did not hold, as ${short}. 12 of them and ${short}. 3.5 % of it say. So.`;
    expect(marked(text, "3.5")).toBe(`They did not hold, as ${short}. 12 of them and ${short}. ⟦3.5⟧ % of it say.`);
  });

  it.each([
    ["a decimal that a reader parted", "They did not rise by 0. 5 percent of it."],
    ["a raised number", "They did not hold. 12 The others fell."],
    ["a reference in brackets", "They did not hold (see the journal. 12 of them) and fell."],
    ["a date", "They did not come on the 3. 12 of them fell."],
  ])("goes on in %s", (_, sentence) => {
    expect(marked(`It was so. ${sentence} So.`, sentence.slice(-6, -1))).toContain("They did not");
  });

  it("ends the sentence before it, whatever words there are", () => {
    const word = fc.stringMatching(/^[b-y][a-z]{6,11}$/);
    const words = fc.array(word, { minLength: 1, maxLength: 6 }).map((each) => each.join(" "));
    const number = fc.integer({ min: 1, max: 99_999 });
    fc.assert(
      fc.property(fc.array(fc.tuple(number, words), { minLength: 2, maxLength: 6 }), (parts) => {
        const sentences = parts.map(([count, rest]) => `${count} ${rest}.`);
        const text = sentences.join(" ");
        let at = 0;
        for (const sentence of sentences) {
          const span = { start: at, end: at + sentence.length };
          expect(passageAround(text, [span])).toEqual({ passage: sentence, quoted: [[0, sentence.length]] });
          at = span.end + 1;
        }
      }),
    );
  });
});

describe("a passage of a table is the row", () => {
  const table = "Table 2: Deaths by arm\n\nArm | n | Deaths\nDrug | 52 | 10 %\nPlacebo | 50 | 20 %\n\nIt was so.";

  it("below the caption and the head of the table", () => {
    expect(marked(table, "50 | 20 %")).toBe("Table 2: Deaths by arm\nArm | n | Deaths\nPlacebo | ⟦50 | 20 %⟧");
  });

  it("alone where there is nothing above it", () => {
    expect(marked("Placebo | 50 | 20 %", "50 | 20 %")).toBe("Placebo | ⟦50 | 20 %⟧");
  });

  it("and is cut around the quoted cells where it is long", () => {
    const row = Array.from({ length: 200 }, (_, index) => `cell ${index}`).join(" | ");
    const { passage } = passageAround(`Table 1: ${"x ".repeat(200)}\n\n${row}`, [
      { start: 409 + row.indexOf("cell 100"), end: 409 + row.indexOf("cell 100") + 8 },
    ]);
    expect(passage.length).toBeLessThanOrEqual(maxPassageChars);
    expect(passage).toContain("cell 100");
  });
});

describe("a passage goes on where nobody can tell whether its sentence ends", () => {
  it.each([
    [
      "a page with a head of its own",
      "We did not\n\n[p. 3]\n\nRecords of Decisions in Markdown 57\n\nneed to add it. So.",
      "need to add",
      /^We did not .*⟦need to add⟧ it\.$/,
    ],
    [
      "a page that begins with a capital",
      "We found no evidence that\n\n[p. 3]\n\nDMSO lowered it. So.",
      "DMSO lowered",
      /^We found no evidence that ⟦DMSO lowered⟧ it\.$/,
    ],
    [
      "a page in a script without capitals",
      "没有证据表明\n\n[p. 3]\n\n药物降低死亡率。",
      "药物降低",
      /^没有证据表明 ⟦药物降低⟧死亡率。$/,
    ],
    [
      "a page in Arabic",
      "لم نجد دليلا على أن\n\n[p. 3]\n\nالعلاج يخفض الوفيات.",
      "العلاج يخفض",
      /^لم نجد دليلا على أن ⟦العلاج يخفض⟧ الوفيات\.$/,
    ],
    [
      "a figure",
      "It was so.\n\nWe found no sign that\n\nFigure 3: Deaths by arm.\n\nthe drug lowered it. So.",
      "the drug",
      /^We found no sign that .*⟦the drug⟧ lowered it\.$/,
    ],
    [
      "a line that a number begins",
      "We found no sign that a pulse at\n20 Hz of the cortex in the group\nlowered it. So.",
      "lowered it",
      /^We found no sign that .* ⟦lowered it⟧\.$/,
    ],
    [
      "a line of one word",
      "We found no sign that this new\nDrug\nLowered it. So.",
      "Lowered it",
      /^We found no sign that .* ⟦Lowered it⟧\.$/,
    ],
    [
      "a bar of a formula",
      "We found no sign that under\nthe value P(A | B) the drug lowered it\nin all except women. So.",
      "the drug lowered",
      /^We found no sign that .*⟦the drug lowered⟧ it in all except women\.$/,
    ],
    [
      "a citation behind a stop",
      "It was false.[3] The drug helped no patients.[4] It ended.",
      "The drug",
      /^⟦The drug⟧ helped no patients\.\[4\]$/,
    ],
    [
      "an abbreviation of another language",
      "Es gab keinen Beleg, dass Verum bzw. Placebo es senkte. So.",
      "Placebo es",
      /^Es gab keinen Beleg, dass Verum bzw\. ⟦Placebo es⟧ senkte\.$/,
    ],
  ])("over %s", (_, text, stretch, passage) => {
    expect(marked(text, stretch)).toMatch(passage);
  });
});

describe("a row of a table stands below what it is about", () => {
  const head = "Table 1: Deaths\n\nArm | n | Deaths\n";

  it("the row above that names it, where its own first cell is empty", () => {
    expect(marked(`${head}PVRI | Sham | 115\n | LPS | 284`, "LPS | 284")).toBe(
      "Table 1: Deaths\nArm | n | Deaths\nPVRI | Sham | 115\n| ⟦LPS | 284⟧",
    );
  });

  it.each([
    ["with bars", "Drug group | |\nOld | 52 | 10\nPlacebo group | |\nOld | 50 | 20", "Placebo group | |"],
    ["without bars", "Men who took it\nOld | 52 | 10\nMen who did not\nOld | 50 | 20", "Men who did not"],
  ])("the line that names its group, %s", (_, rows, group) => {
    expect(marked(head + rows, "50 | 20")).toBe(`Table 1: Deaths\nArm | n | Deaths\n${group}\nOld | ⟦50 | 20⟧`);
  });

  it("its head over the end of a page", () => {
    expect(marked(`${head}Drug | 52 | 10\n\n[p. 4]\n\nPlacebo | 50 | 20`, "50 | 20")).toBe(
      "Table 1: Deaths\nArm | n | Deaths\nPlacebo | ⟦50 | 20⟧",
    );
  });

  it("the columns that are quoted, where the row is long", () => {
    const cells = (name: string) => Array.from({ length: 60 }, (_, index) => `${name} ${index} of them`).join(" | ");
    const text = `Table 1: Deaths\n\n${cells("head")}\n${cells("cell")}`;
    const passage = marked(text, "cell 40 of them");
    expect(passage.split("\n")[1]).toBe("head 0 of them | […] | head 40 of them | […]");
    expect(passage).toContain("⟦cell 40 of them⟧");
    expect(passage.length).toBeLessThanOrEqual(maxPassageChars);
  });
});

describe("a point of a list stands below what opens the list", () => {
  it.each([
    [
      "a line that ends with a colon",
      "It is so. The following did not occur:\n- the hand held\n- the hand fell\n\nThen it ended.",
      "hand fell",
      "The following did not occur:\n- the ⟦hand fell⟧",
    ],
    [
      "a sentence",
      "None of the following was seen.\n\n- the hand held\n- the hand fell",
      "hand fell",
      "None of the following was seen.\n- the ⟦hand fell⟧",
    ],
    [
      "a point",
      "We asked two things.\n- No:\n\n- the hand fell",
      "hand fell",
      "We asked two things.\n- No:\n- the ⟦hand fell⟧",
    ],
    [
      "over points of several lines",
      "It did not occur:\n- the hand held\nfor hours\n- the hand\nfell",
      "fell",
      "It did not occur:\n- the hand ⟦fell⟧",
    ],
  ])("%s", (_, text, stretch, passage) => {
    expect(marked(text, stretch)).toBe(passage);
  });
});

describe("of a long passage", () => {
  const words = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}${at}`).join(" ");

  it("the side farther from the quote is cut at a word, and the cut is marked", () => {
    const passage = marked(`${words("a", 300)} here it is ${words("b", 10)}. So.`, "here it is");
    expect(passage).toMatch(/^\[…\] a\d+ .* a299 ⟦here it is⟧ b0 .* b9\.$/);
    expect(passage.length).toBeLessThanOrEqual(maxPassageChars + 2);
  });

  it("both sides are cut where both are long, and the quote is whole however long it is", () => {
    expect(marked(`${words("a", 300)} here it is ${words("b", 300)}.`, "here it is")).toMatch(
      /^\[…\] a\d+ .* ⟦here it is⟧ .* b\d+ \[…\]$/,
    );
    const quote = words("c", 400);
    expect(marked(`It is ${quote} in all.`, quote)).toBe(`[…] ⟦${quote}⟧ […]`);
  });
});

describe("a kept quote", () => {
  const text = "It was so. We found no sign that the hand held it, but not for long. It ended.";
  const match = findQuote(text, "that the hand … not for long");
  const kept = match.found ? passageFields(match) : {};

  it("gives the quoted words, the passage with marks, and its pieces", () => {
    expect(quotedWords(kept)).toBe("that the hand … not for long");
    expect(passageText(kept)).toBe("We found no sign “that the hand” held it, but “not for long”.");
    expect(
      piecesOf(kept)
        .map(({ text: piece }) => piece)
        .join(""),
    ).toBe(match.found ? match.passage : "");
  });

  it("of an old record is the quote alone, and says that the words around it are not stored", () => {
    const old = { claim: "c", quote: "the hand held it", status: "verified" as const };
    expect(passageText(old)).toBe("“the hand held it”");
    expect(notesOf(old)).toEqual(["the words around it are not stored"]);
  });

  it("says where its sentence goes on, and what its numbers lack", () => {
    const cut = { claim: "c", status: "verified" as const, passage: "We saw it hold for 5 h.", quoted: "7-14" };
    expect(notesOf(cut)).toEqual(["the sentence begins before the quoted words", "the sentence goes on"]);
    const whole = { ...cut, quoted: "0-22", numbers: [{ number: "5 h", stands: "in-passage" as const }] };
    expect(notesOf(whole)).toEqual(["in the sentence, outside the quoted words: 5 h"]);
    expect(notesOf({ ...whole, numbers: [{ number: "6 h", stands: "nowhere" }] })).toEqual([
      "number not in the passage: 6 h",
    ]);
  });

  it("is clipped around its words, and whole where there is room", () => {
    const long = { passage: `${"before ".repeat(80)}the words ${"behind ".repeat(20)}`.trim(), quoted: "560-569" };
    expect(clippedPassage(long, 40)).toMatch(/^\[…\] .*“the words”.* \[…\]$/);
    expect(clippedPassage(kept, 40)).toBe(passageText(kept));
  });

  it("with offsets that a hand edit made wrong is shown without an error", () => {
    expect(passageText({ passage: "short", quoted: "3-99, x, 4-2" })).toBe("sho“rt”");
  });

  it.each([
    ["C, because the houses were small", "“3.8 °C, because the houses were small”"],
    ["the energy at 3.8 °", "“the energy at 3.8 °C”"],
    ["of the energy at 3.8 °C, because", "“of the energy at 3.8 °C, because”"],
    ["40 for the pump", "“$40 for the pump”"],
  ])("is not cut within a quantity: %s", (quote, shown) => {
    const text = "They saved 31 % of the energy at 3.8 °C, because the houses were small, and paid $40 for the pump.";
    const match = findQuote(text, quote);
    expect(match.found && passageText(passageFields(match))).toContain(shown);
  });
});
