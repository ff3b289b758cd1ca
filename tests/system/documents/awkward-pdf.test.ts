import { describe, expect, it } from "vitest";
import { findQuote } from "../../../src/text/evidence/find-quote.js";
import { readPdf } from "../../../src/text/documents/pdf/read-pdf.js";
import { type RawPlan, rawPdf, textAt } from "../../fixtures/pdf/raw-pdf.js";
import { type3Font, unicodeAt, unicodeFont } from "../../fixtures/pdf/unicode-font.js";

const words =
  "the gripper learned to grasp objects it had never felt before while tactile sensors measured contact forces".split(
    " ",
  );
const sentence = (number: number) =>
  `Sentence ${number} says that ${words.slice(number % 5, (number % 5) + 9).join(" ")} by ${number} percent.`;
const prose = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => sentence(from + index)).join(" ");
const wrap = (text: string, width: number): string[] =>
  text.match(new RegExp(`.{1,${width}}(?:\\s|$)`, "g"))?.map((line) => line.trim()) ?? [];
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
/** Lines of columns that begin at `xs`, written across the page. */
const across = (columns: readonly (readonly string[])[], xs: readonly number[], at = textAt) =>
  Array.from({ length: Math.max(...columns.map(({ length }) => length)) }, (_, row) =>
    columns
      .map((lines, index) => (lines[row] === undefined ? "" : at(lines[row], xs[index] ?? 0, 740 - row * 12)))
      .join(""),
  ).join("");

async function read(plan: RawPlan): Promise<string> {
  const result = await readPdf(rawPdf(plan));
  return result.status === "ok" ? result.text.text : result.reason;
}
const numbersOf = (text: string) =>
  [...text.replace(/\s+/g, " ").matchAll(/Sentence (\d+) says/g)].map((match) => Number(match[1]));
const page = across([wrap(prose(1, 20), 80)], [60]);

describe("a page set in another way", () => {
  it("in three columns is read column by column, under a title over all of them", async () => {
    const columns = [prose(1, 14), prose(15, 14), prose(29, 14)].map((text) => wrap(text, 32));
    const text = await read({
      pages: [
        textAt("A title over all three columns of the page", 40, 765, "/F1 16 Tf") + across(columns, [40, 222, 404]),
      ],
    });
    expect(text.split("\n")[1]).toBe("A title over all three columns of the page");
    expect(numbersOf(text)).toEqual(upTo(42));
  });

  it("that is a table of three columns keeps its rows", async () => {
    const rows = [
      "Method Success Time",
      "Ours 94.2 12.1",
      "Random 88.1 15.0",
      "Human 71.0 9.7",
      "Zero 0.0 0.5",
      "Copy 2.0 1.0",
      "Half 47.1 6.5",
    ];
    const cells = [0, 1, 2].map((column) => rows.map((row) => row.split(" ")[column] ?? ""));
    expect(await read({ pages: [across(cells, [60, 240, 420])] })).toContain(rows.join("\n"));
  });

  it.each([
    ["in its left margin", 30],
    ["in its right margin", 580],
  ])("with its lines numbered %s has no such numbers in its text", async (_, x) => {
    const numbers = wrap(prose(1, 20), 80).map((_line, index) => String(index + 38));
    const text = await read({ pages: [page + across([numbers], [x], (n, at, y) => textAt(n, at, y, "/F1 6 Tf"))] });
    expect(numbersOf(text)).toEqual(upTo(20));
    expect(text).not.toMatch(/^(?:38|45) | (?:38|45)$/m);
  });

  it("keeps numbers that begin the rows of a table", async () => {
    const rows = upTo(9).map((number) => `Term number ${number} of the whole list`);
    const table = across([rows.map((_, index) => String(index + 1)), rows], [60, 90]);
    expect(
      await read({ pages: [`${table}${textAt("A line of text below the table, as wide as the page.", 60, 500)}`] }),
    ).toMatch(/^4 Term number 4/m);
  });

  it("with notes in its margin is read without them between its lines", async () => {
    const notes = wrap(prose(21, 3), 22).map((line, index) => textAt(line, 470, 735 - index * 9.5, "/F1 8 Tf"));
    expect(numbersOf(await read({ pages: [page + notes.join("")] }))).toEqual(upTo(23));
  });

  it("in two columns whose left has sentences that happen to begin below one another is read column by column", async () => {
    const left = wrap(prose(1, 20), 44);
    // Each fourth line has a wide space in its middle, at one place.
    const some = (line: string, x: number, y: number) => {
      const space = line.lastIndexOf(" ", 18);
      return x > 100 || y % 48 !== 740 % 48
        ? textAt(line, x, y)
        : textAt(line.slice(0, space), x, y) + textAt(line.slice(space + 1), x + 100, y);
    };
    const text = await read({ pages: [across([left, wrap(prose(21, 20), 44)], [40, 320], some)] });
    expect(numbersOf(text)).toEqual(upTo(40));
  });

  it("begins a footnote with its mark, set apart from its first word", async () => {
    const note = textAt("7", 60, 63, "/F1 5 Tf") + textAt("Measured over all of the trials.", 63, 60, "/F1 8 Tf");
    expect(await read({ pages: [page + note] })).toContain("7 Measured over all of the trials.");
  });

  it("of a slide in two columns keeps each bullet with its text", async () => {
    const column = (from: number) => wrap(prose(from, 3), 30);
    const bullets = [60, 330].map((x) => textAt("-", x - 12, 740)).join("");
    const text = await read({ pages: [bullets + across([column(1), column(4)], [60, 330])] });
    expect(text).toContain("- Sentence 4 says");
    expect(numbersOf(text)).toEqual(upTo(6));
  });

  it.each([0, 90, 180, 270])("and turned by %i degrees is read along its lines", async (degrees) => {
    expect(numbersOf(await read({ pages: [page], page: `/Rotate ${degrees}` }))).toEqual(upTo(20));
  });

  it("upwards, in two columns, is read along its lines, column by column", async () => {
    const columns = [prose(1, 20), prose(21, 20)].map((text) => wrap(text, 46));
    const upwards = (line: string, x: number, y: number) =>
      `BT /F1 10 Tf 0 1 -1 0 ${800 - y} ${x} Tm (${line}) Tj ET\n`;
    expect(numbersOf(await read({ pages: [across(columns, [40, 300], upwards)], page: "/Rotate 90" }))).toEqual(
      upTo(40),
    );
  });

  it("with space between the letters of its headings holds them as words", async () => {
    const heads = [
      "BT /F1 16 Tf 6 Tc 1 0 0 1 60 760 Tm (SPACED TITLE) Tj 0 Tc ET\n",
      "BT /F1 9 Tf 1.5 Tc 1 0 0 1 60 748 Tm (INTRODUCTION) Tj 0 Tc ET\n",
      ...[..."ABSTRACT"].map((letter, index) => textAt(letter, 300 + index * 12, 748)),
    ].join("");
    expect(await read({ pages: [heads + page] })).toMatch(/SPACED TITLE\s+INTRODUCTION ABSTRACT/);
  });

  it("keeps raised and lowered numbers in their line, and takes none for a page number", async () => {
    const line =
      textAt("It reaches 10", 60, 720) +
      textAt("-3", 121, 724, "/F1 7 Tf") +
      textAt("after a day, and x", 130, 720) +
      textAt("2", 214, 716, "/F1 7 Tf");
    const text = await read({
      pages: [`${line}${textAt("grows with every trial that was made on the bench.", 60, 700)}`],
    });
    expect(text).toContain("It reaches 10 -3 after a day, and x 2\ngrows with");
  });

  it("keeps the raised numbers of browsers, which are larger and higher than a printer's", async () => {
    const line =
      textAt("It reaches 10", 60, 720, "/F1 11 Tf") +
      textAt("-3", 128, 724.5, "/F1 9.2 Tf") +
      textAt("N after a day.", 140, 720, "/F1 11 Tf");
    const text = await read({
      pages: [`${line}${textAt("It then falls again, as every trial on the bench shows.", 60, 700)}`],
    });
    expect(text).toContain("It reaches 10 -3 N after a day.\nIt then falls");
  });

  it("in a font of two bytes is whole, whatever the number of its spaces", async () => {
    const lines = upTo(40).map((at) => `we saw in it a do of ${at} or so by an eye`);
    const result = await readPdf(
      rawPdf({
        pages: [lines.map((line, index) => unicodeAt(line, 60, 740 - index * 14)).join("")],
        ...unicodeFont(lines.join(""), 500),
      }),
    );
    expect(result).toMatchObject({ status: "ok", text: { depth: "full", warnings: [] } });
  });

  it("may break a word at its end", async () => {
    const pages = [
      textAt("The first page says many things about grasping, and", 60, 740) +
        textAt("it ends in the middle of a word, namely gener-", 60, 728) +
        textAt("17", 300, 30),
      textAt("alisation, which runs on over the page and ends here.", 60, 740) +
        textAt("Then more text follows.", 60, 728) +
        textAt("18", 300, 30),
    ];
    expect(
      findQuote(
        await read({ pages }),
        "ends in the middle of a word, namely generalisation, which runs on over the page",
      ).found,
    ).toBe(true);
  });
});

describe("a page in another script", () => {
  it("of Japanese is one text without spaces", async () => {
    const lines = [
      "提案手法は未知の物体に対しても高い成功率を示した。実験では六百回の",
      "試行を行い、九十四パーセントの把持に成功した。結果は既存手法を上回る。",
    ];
    const text = await read({
      pages: [lines.map((line, index) => unicodeAt(line, 60, 700 - index * 16)).join("")],
      ...unicodeFont(lines.join(""), 1000),
    });
    expect(findQuote(text, "実験では六百回の試行を行い、九十四パーセントの把持に成功した。").found).toBe(true);
  });

  const hebrew = [
    "המחקר הזה עוסק בלמידת אחיזה של יד רובוטית בעזרת חיישני מגע",
    "השיטה המוצעת הצליחה בתשעים וארבעה אחוזים מן הניסיונות שלנו",
  ];
  const arabic = [
    "تتناول هذه الدراسة تعلم الإمساك بيد آلية بمساعدة حساسات اللمس",
    "ونجحت الطريقة المقترحة في أربعة وتسعين بالمئة من المحاولات",
  ];
  const mirrored = (text: string) => [...text].toReversed().join("");
  it.each([
    ["Hebrew", hebrew],
    ["Arabic", arabic],
  ])("of %s is read from the right, whether its lines are set whole or word by word", async (_, lines) => {
    const font = unicodeFont(lines.join(""), 500);
    const whole = lines.map((line, index) => unicodeAt(mirrored(line), 100, 700 - index * 16)).join("");
    expect(await read({ pages: [whole], ...font })).toContain(lines.join("\n"));
    const byWord = lines.map((line, index) => {
      let x = 500;
      const set = line.split(" ").map((word) => {
        x -= word.length * 5 + 3;
        return unicodeAt(mirrored(word), x, 700 - index * 16);
      });
      return set.join("");
    });
    expect(await read({ pages: [byWord.join("")], ...font })).toContain(lines.join("\n"));
  });

  it("of Arabic has the letters of its ligatures in their order", async () => {
    const font = unicodeFont(`${arabic.join("")}\ufefb`, 500);
    const { map } = font.objects as { map: { dictionary: string; content: string } };
    const content = map.content.replace("<fefb> <fefb>", "<fefb> <06440627>");
    const pages = arabic.map((line, index) => unicodeAt(mirrored(`${line} \ufefb`), 100, 700 - index * 16)).join("");
    const text = await read({ pages: [pages], ...font, objects: { ...font.objects, map: { ...map, content } } });
    expect(text).toContain(`${arabic[0]} لا\n${arabic[1]} لا`);
  });

  it.each([
    ["rarely", 40, "full"],
    ["often", 2, "partial"],
  ])("whose font %s names no character for a sign is not whole where that changes words", async (_, every, depth) => {
    const lines = upTo(40).map((at) => `la m${at % every === 0 ? "é" : "e"}thode suit la ligne ${at} du texte entier`);
    const font = unicodeFont(lines.join(""), 500);
    const { map } = font.objects as { map: { dictionary: string; content: string } };
    const content = map.content.replace("<00e9> <00e9>", "<00e9> <0000>");
    const pages = [lines.map((line, index) => unicodeAt(line, 60, 740 - index * 14)).join("")];
    const result = await readPdf(rawPdf({ pages, ...font, objects: { ...font.objects, map: { ...map, content } } }));
    expect(result).toMatchObject({ status: "ok", text: { depth } });
  });

  it("of Hebrew has its words of other scripts in their own order, and its right column first", async () => {
    const font = unicodeFont(hebrew.join(""), 500);
    const line =
      unicodeAt(mirrored("המחקר הזה עוסק בלמידת"), 340, 752) +
      textAt("GPT-4 reached", 200, 752) +
      textAt("94.2 percent", 275, 752);
    const rows = Array.from(
      { length: 8 },
      (_, index) =>
        unicodeAt(mirrored(hebrew[1] ?? ""), 320, 720 - index * 14) +
        unicodeAt(mirrored(hebrew[0] ?? ""), 10, 720 - index * 14),
    );
    const text = await read({ pages: [line + rows.join("")], ...font });
    expect(text).toContain("המחקר הזה עוסק בלמידת GPT-4 reached 94.2 percent");
    expect(text.lastIndexOf("השיטה")).toBeLessThan(text.indexOf("המחקר הזה עוסק בלמידת אחיזה"));
  });
});

describe("a font of another kind", () => {
  const drawn = wrap(`${words.join(" ")} `.repeat(4), 60).map((line, index) => {
    const parts = line.split(" ").map((word) => `(${word})`);
    return `BT /F2 10 Tf 1 0 0 1 50 ${700 - index * 14} Tm [${parts.join(" -400 ")}] TJ ET\n`;
  });
  it.each([true, false])("whose letters are drawings is read by their names or its map (named: %s)", async (named) => {
    expect((await read({ pages: [drawn.join("")], ...type3Font(named) })).replace(/\s+/g, " ")).toContain(
      words.join(" "),
    );
  });

  it("with ligatures by name alone gives their letters", async () => {
    const lig =
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Type /Encoding /BaseEncoding /WinAnsiEncoding /Differences [1 /fl /fi /ffi] >> >>";
    const line =
      "BT /F2 10 Tf 1 0 0 1 60 700 Tm (An e\\003cient \\002lter for the o\\003ce worker \\001ows through the \\002nal stage) Tj ET\n";
    expect(await read({ pages: [line], objects: { lig }, fonts: "/F2 @lig" })).toContain(
      "An efficient filter for the office worker flows through the final stage",
    );
  });

  it("that leaves out what some of its glyphs are has a mark for each, and says so from ten on", async () => {
    const text = "提案手法は未知の物体に対しても高い成功率を示した。実験では六百回の試行を行い九十四回成功した。";
    const font = unicodeFont(text.replaceAll("回", ""), 1000, 1);
    const lines = (count: number) =>
      Array.from({ length: count }, (_, index) => unicodeAt(text, 60, 700 - index * 16, 1)).join("");
    const [some, many] = [
      await readPdf(rawPdf({ pages: [lines(2)], ...font })),
      await readPdf(rawPdf({ pages: [lines(5)], ...font })),
    ];
    expect(some).toMatchObject({ text: { warnings: [], depth: "full" } });
    expect(many).toMatchObject({ text: { warnings: [expect.stringMatching(/^10 characters/)], depth: "full" } });
    expect(many.status === "ok" && many.text.text).toContain("六百�の試行を行い九十四�成功した。");
  });

  it.each([
    ["stand for characters of nobody's", "\ue010\ue011\ue012\ue013"],
    ["are marks and no letters", "#%&!=+;~*,"],
  ])("whose glyphs %s makes the PDF unreadable", async (_, characters) => {
    const line = characters.repeat(6);
    const lines = Array.from({ length: 40 }, (_each, index) => unicodeAt(line, 20, 480 - index * 12)).join("");
    const font = unicodeFont(characters, 500);
    expect(await read({ pages: [lines], ...font })).toMatch(/run OCR over it/i);
    const some = textAt("Of the whole page this one line alone can be read by a person.", 60, 700);
    expect(await read({ pages: [some + lines], ...font })).toMatch(/^The PDF's fonts don't say which letters/);
  });

  it("that has characters of nobody's among its text makes the text a part", async () => {
    const font = unicodeFont("\ue010", 500);
    const line = unicodeAt("\ue010".repeat(40), 20, 300) + unicodeAt("\ue010".repeat(40), 20, 280);
    expect(await readPdf(rawPdf({ pages: [page + line + line], ...font }))).toMatchObject({
      text: { depth: "partial", warnings: [expect.stringMatching(/^Some of the PDF's fonts don't say/)] },
    });
  });

  it("of TeX's formulas has its epsilon, whose name no list of glyphs knows", async () => {
    const italic =
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Type /Encoding /Differences [15 /epsilon1] >> >>";
    const line = `${textAt("a ratio of 3/2 +", 60, 775)}BT /F2 10 Tf 1 0 0 1 140 775 Tm (\\017) Tj ET\n${textAt("was reached", 150, 775)}`;
    expect(await read({ pages: [line + page], objects: { italic }, fonts: "/F2 @italic" })).toContain(
      "a ratio of 3/2 + ϵ was reached",
    );
  });

  it("kerned letter by letter gives whole words", async () => {
    const line =
      "BT /F1 10 Tf 1 0 0 1 60 790 Tm [(T) 80 (ok) -10 (en) -15 (s) -300 (are) -280 (k) 20 (erned) -290 (w) 10 (ell)] TJ ET\n";
    expect(await read({ pages: [line + page] })).toContain("Tokens are kerned well");
  });
});

describe("a file in another state", () => {
  it("is read with a table of objects that points nowhere, and without a password that only its owner needs", async () => {
    expect(numbersOf(await read({ pages: [page], table: "wrong" }))).toEqual(upTo(20));
    expect(numbersOf(await read({ pages: [page], password: "" }))).toEqual(upTo(20));
  });

  it("says what to do where it is locked or cut off", async () => {
    expect(await read({ pages: [page], password: "secret" })).toBe(
      "The PDF is encrypted with a password; save it without one and try again.",
    );
    expect(await read({ pages: [page], table: "missing" })).toMatch(
      /^The file is not a complete PDF \(.*\); download it again\.$/,
    );
  });
});
