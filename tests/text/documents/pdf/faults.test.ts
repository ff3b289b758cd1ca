import { describe, expect, it } from "vitest";
import { hasGluedWords, onlyMathLetter } from "../../../../src/text/documents/pdf/faults.js";
import { readPdf } from "../../../../src/text/documents/pdf/read-pdf.js";
import { rawPdf, textAt } from "../../../fixtures/pdf/raw-pdf.js";
import { unicodeAt, unicodeFont } from "../../../fixtures/pdf/unicode-font.js";

const prose = "The gripper learned to grasp objects that it had never felt before by touch alone. ";

describe("letters of formulas that all come out as one sign", () => {
  it("are told by a sign that follows itself", () => {
    expect(onlyMathLetter("In 𝐀, each node 𝐀𝐀 has a token 𝐀𝐀 of 𝐀 and 𝐀𝐀𝐀. ".repeat(3))).toBe("𝐀");
  });

  it.each([
    ["many letters", "𝑥𝑥 + 𝑦𝑦 = 𝑧𝑧 ".repeat(10)],
    ["one letter that stands alone", "(𝑝 < 0.05) and 𝑝 = 0.2 ".repeat(20)],
    ["few letters", "𝐀𝐀 of 𝐀𝐀"],
  ])("are not %s", (_, text) => {
    expect(onlyMathLetter(text)).toBeUndefined();
  });
});

describe("words without spaces between them", () => {
  it("are told, also where a part of the words has them", () => {
    expect(hasGluedWords((prose.replaceAll(" ", "") + prose).repeat(8))).toBe(true);
    expect(
      hasGluedWords("Nameofapplicant Dateofbirth of Placeofresidence, Signatureofguardian and date. ".repeat(9)),
    ).toBe(true);
  });

  it.each([
    ["English", prose.repeat(20)],
    [
      "German",
      "Die Geschwindigkeit der Greifbewegung wurde von der Bundesanstalt für Materialforschung mit den Verfahren der Messtechnik bestimmt. ".repeat(
        10,
      ),
    ],
    ["sequences of genes", `${prose.repeat(4)}${"ACGTTGCAACGTTGCAACGTTGCAACGT ".repeat(30)}`],
    ["Japanese", "提案手法は未知の物体に対してもロボットが高い成功率を示した。".repeat(20)],
    ["a few long words", `${prose} otorhinolaryngologicalexamination`],
  ])("are not those of %s", (_, text) => {
    expect(hasGluedWords(text)).toBe(false);
  });

  it("make a PDF a part, with a warning", async () => {
    const lines = Array.from({ length: 20 }, (_, at) => textAt(prose.replaceAll(" ", ""), 40, 760 - at * 12)).join("");
    expect(await readPdf(rawPdf({ pages: [lines] }))).toMatchObject({
      text: { depth: "partial", warnings: [expect.stringMatching(/lost the spaces/)] },
    });
  });
});

it("formulas of one sign make a PDF a part, with a warning", async () => {
  const { fonts = "", objects = {} } = unicodeFont("nodexyz", 500);
  const { dictionary, content } = objects["map"] as { dictionary: string; content: string };
  const map = { dictionary, content: content.replace(/(<\w{4}>) <\w{4}>/g, "$1 <d835dc00>") };
  const page =
    Array.from({ length: 20 }, (_, at) => textAt(prose, 40, 760 - at * 12)).join("") +
    ["no", "de", "x", "yz", "e", "nod", "xy", "od"]
      .map((letters, at) => unicodeAt(letters, 40 + 60 * at, 300))
      .join("");
  expect(await readPdf(rawPdf({ pages: [page], fonts, objects: { ...objects, map } }))).toMatchObject({
    text: { depth: "partial", warnings: [expect.stringMatching(/same character \(𝐀\)/)] },
  });
});
