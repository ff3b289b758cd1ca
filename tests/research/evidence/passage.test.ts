import { describe, expect, it } from "vitest";
import { findQuote } from "../../../src/research/evidence/find-quote.js";
import { maxPassage, passageAround } from "../../../src/research/evidence/passage.js";
import { clippedPassage, notesOf, passageText, piecesOf, quotedWords } from "../../../src/research/evidence/quoted.js";

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
    ["of a question", "It was so. Does it help? Nobody knows.", "it help", "Does ⟦it help⟧?"],
    [
      "over the lines of a file",
      "It was so. We found that\nit did not\nhelp them. So.",
      "not\nhelp",
      "We found that it did ⟦not help⟧ them.",
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
    expect(passage.length).toBeLessThanOrEqual(maxPassage);
    expect(passage).toContain("cell 100");
  });
});

it("a point of a list stands below the line that opens the list", () => {
  const text = "It is so. The following did not occur:\n- the hand held\n- the hand fell\n\nThen it ended.";
  expect(marked(text, "hand fell")).toBe("The following did not occur:\n- the ⟦hand fell⟧");
});

describe("of a long passage", () => {
  const words = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}${at}`).join(" ");

  it("the side farther from the quote is cut at a word, and the cut is marked", () => {
    const passage = marked(`${words("a", 300)} here it is ${words("b", 10)}. So.`, "here it is");
    expect(passage).toMatch(/^\[…\] a\d+ .* a299 ⟦here it is⟧ b0 .* b9\.$/);
    expect(passage.length).toBeLessThanOrEqual(maxPassage + 2);
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
  const kept = match.found ? { passage: match.passage, quoted: match.quoted } : {};

  it("gives the quoted words, the passage with marks, and its pieces", () => {
    expect(quotedWords(kept)).toBe("that the hand … not for long");
    expect(passageText(kept)).toBe("We found no sign “that the hand” held it, but “not for long”.");
    expect(
      piecesOf(kept)
        .map(({ text: piece }) => piece)
        .join(""),
    ).toBe(match.found ? match.passage : "");
  });

  it("of an old record is the quote alone, and says that the words around it are not kept", () => {
    const old = { claim: "c", quote: "the hand held it", status: "verified" as const };
    expect(passageText(old)).toBe("“the hand held it”");
    expect(notesOf(old)).toEqual(["the words around it are not kept"]);
  });

  it("says where its sentence goes on, and what its numbers lack", () => {
    const cut = { claim: "c", status: "verified" as const, passage: "We saw it hold for 5 h.", quoted: [[7, 14]] };
    expect(notesOf(cut)).toEqual(["the sentence begins before the quoted words", "the sentence goes on"]);
    const whole = { ...cut, quoted: [[0, 22]], numbers: [{ number: "5 h", stands: "in-passage" as const }] };
    expect(notesOf(whole)).toEqual(["in the sentence, outside the quoted words: 5 h"]);
    expect(notesOf({ ...whole, numbers: [{ number: "6 h", stands: "nowhere" }] })).toEqual([
      "number not in the passage: 6 h",
    ]);
  });

  it("is clipped around its words, and whole where there is room", () => {
    const long = { passage: `${"before ".repeat(80)}the words ${"behind ".repeat(20)}`.trim(), quoted: [[560, 569]] };
    expect(clippedPassage(long, 40)).toMatch(/^\[…\] .*“the words”.* \[…\]$/);
    expect(clippedPassage(kept, 40)).toBe(passageText(kept));
  });

  it("with offsets that a hand edit made wrong is shown without an error", () => {
    expect(
      passageText({
        passage: "short",
        quoted: [
          [3, 99],
          [-4, 2],
        ],
      }),
    ).toBe("sho“rt”");
  });
});
