import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { findQuote } from "../../../src/text/evidence/find-quote.js";
import { type StoredQuote, passageFields } from "../../../src/text/evidence/quoted.js";
import { textWidth } from "../../../src/engine/ui/terminal/format.js";
import { passageLines } from "../../../src/research/overview/passage-lines.js";

/** As a record keeps a quote of a text. */
function kept(text: string, quote: string): StoredQuote {
  const match = findQuote({ text }, quote);
  if (!match.found) throw new Error(`not found: ${quote}`);
  return passageFields(match);
}
const shown = (of: StoredQuote, columns = 60) => passageLines(of, { columns, color: false, indent: "      " });

describe("a passage on a terminal", () => {
  const sentence = "We found no evidence that, at a dose of 0.1 mg, the drug lowered the mortality of any patient.";

  test("is the whole sentence, the quoted words between “ and ”, in lines that are no wider than the terminal", () => {
    const lines = shown(kept(`It began. ${sentence} It ended.`, "the drug lowered the mortality of any patient"));
    expect(lines).toEqual([
      "      We found no evidence that, at a dose of 0.1 mg, “the",
      "      drug lowered the mortality of any patient”.",
    ]);
  });

  test("of a row has its caption, its head and the row in a line each", () => {
    const table = "Table 2. Success in percent.\n\nGripper | Wet | Dry\nSoft | 94 | 97\nHard | 51 | 93\n";
    expect(shown(kept(table, "Hard | 51 | 93"))).toEqual([
      "      Table 2. Success in percent.",
      "      Gripper | Wet | Dry",
      "      “Hard | 51 | 93”",
    ]);
  });

  test("of an elided quote has what was left out between its two marked parts", () => {
    const text = "The old drug lowered the pressure by 4 mmHg, the new one raised it by 9 mmHg in all groups.";
    const lines = shown(kept(text, "The old drug lowered the pressure … by 9 mmHg in all groups"));
    expect(lines.join(" ").replace(/\s+/g, " ").trim()).toBe(
      "“The old drug lowered the pressure” by 4 mmHg, the new one raised it “by 9 mmHg in all groups”.",
    );
  });

  test.each([
    [
      "Chinese",
      `背景不明。我们没有发现${"该药在任何剂量下降低患者死亡率的证据".repeat(4)}。结束。`,
      "该药在任何剂量下降低患者死亡率的证据",
    ],
    [
      "Arabic",
      `مقدمة قصيرة. ${"لم نجد دليلا على أن الدواء يخفض معدل الوفيات لدى المرضى في التجربة ".repeat(3).trim()}. خاتمة.`,
      "الدواء يخفض معدل الوفيات لدى المرضى",
    ],
  ])("in %s stays within 60 columns, loses no sign and marks the quoted words once", (_, text, quote) => {
    const of = kept(text, quote);
    const lines = shown(of);
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(60);
    const bare = (words: string) => words.replace(/[\s“”]/g, "");
    expect(bare(lines.join(""))).toBe(bare(of.passage ?? ""));
    expect(lines.join("").match(/[“”]/g)).toEqual(["“", "”"]);
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(line.trim()).not.toMatch(/^[”。，]|“$/);
  });

  test("the paper's own marks stay as they are, also those that stand for ours while lines are broken", () => {
    const lines = shown(kept("They call it “soft” and ⸨hard⸩ in one. Then the rest.", "call it “soft” and"));
    expect(lines).toEqual(["      They “call it “soft” and” ((hard)) in one."]);
  });

  test("with colours the quoted words are bold in every line, the rest of the sentence is dim", () => {
    const lines = passageLines(kept(sentence, "the drug lowered the mortality"), { columns: 30, color: true });
    const bold = lines.flatMap((line) => [...line.matchAll(/\u001b\[1m(.*?)\u001b\[22m/g)].map(([, words]) => words));
    expect(
      bold
        .join(" ")
        .replace(/[\s“”]+/g, " ")
        .trim(),
    ).toBe("the drug lowered the mortality");
    expect(lines.join("")).toContain("\u001b[2m");
    expect(stripVTControlCharacters(lines.join(" "))).toBe(
      "We found no evidence that, at a dose of 0.1 mg, “the drug lowered the mortality” of any patient.",
    );
  });

  test("of a record without one is the quote alone, and without either nothing", () => {
    expect(shown({ quote: "held 94 percent" })).toEqual(["      “held 94 percent”"]);
    expect(shown({})).toEqual([]);
  });

  test("moves no cursor, whatever a paper holds", () => {
    const passage = "It said \u001b[2Jthat \u202eall is well.";
    expect(shown({ passage, quoted: "3-12" }).join("")).not.toMatch(/[\u001b\u202e]/);
  });
});
