import { describe, expect, it } from "vitest";
import { Characters, withMathLetters } from "../../../../src/text/documents/pdf/characters.js";

const read = (...texts: readonly string[]): string[] => {
  const characters = new Characters();
  return texts.map((text) => characters.correct(text, "f1", undefined));
};

describe("the letters of a font of TeX that names none", () => {
  it("are those of its encoding", () => {
    expect(read("the \x1crst e\x1eciency is de\x1cned, o\x1bset", "\x10so called\x11 pages 1\x152")).toEqual([
      "the first efficiency is defined, offset",
      "“so called” pages 1–2",
    ]);
  });

  it("are those of its older encoding, where it has shown one", () => {
    expect(read("e\x0eciency of the a\x0bair", "ba\x0fing \x0crst")).toEqual([
      "efficiency of the affair",
      "baffling first",
    ]);
  });

  it("leave its epsilon, and no letter is made of a sign between numbers", () => {
    expect(read("a 3/2 + \x0f guaranty", "5 \x1c 7")).toEqual(["a 3/2 + ϵ guaranty", "5 \x1c 7"]);
  });
});

describe("letters of formulas that were cut to 16 bits", () => {
  const pageOf = (text: string) => [[{ text, y: 0, height: 10 }]];
  const cut = String.fromCharCode(0x1d6fc, 0x1d714);

  it("are whole again, and Korean stays as it is", () => {
    expect(withMathLetters(pageOf(`from ${cut}`))).toEqual(pageOf("from 𝛼𝜔"));
    const korean = pageOf("한국 보안 기술");
    expect(withMathLetters(korean)).toEqual(korean);
  });
});
