import { describe, expect, it } from "vitest";
import { joinPages, withAccents } from "../../../../src/text/documents/pdf/pages.js";

describe("withAccents", () => {
  it.each([
    ["an eﬃcient ﬂow of ﬁnite aﬀairs", "an efficient flow of finite affairs"],
    ["na¨ıve Erd ˝os and Garc´ıa", "naïve Erdős and García"],
    ["Fran¸cois", "François"],
    ["x ˆ 2 and 5 ˜ 6", "x ˆ 2 and 5 ˜ 6"],
  ])("takes ligatures apart and puts accents onto letters only: %s", (set, read) =>
    expect(withAccents(set)).toBe(read),
  );
});

describe("joinPages", () => {
  const page = (number: number) => [
    { text: "A Running Head", y: 760, height: 8 },
    ...Array.from({ length: 6 }, (_, index) => ({
      text: `line ${number}.${index} of the body`,
      y: 700 - index * 12,
      height: 10,
    })),
    { text: `Page ${number} of 4`, y: 30, height: 8 },
  ];

  it("leaves out heads and numbers that stand on most pages, and keeps a line of the body that is a number", () => {
    const parts = joinPages([1, 2, 3, 4].map(page));
    expect(parts.map(({ label }) => label)).toEqual(["p. 1", "p. 2", "p. 3", "p. 4"]);
    for (const { text } of parts) expect(text).not.toMatch(/Running Head|Page \d/);
    const [withNumber] = joinPages([
      [
        { text: "before", y: 700, height: 10 },
        { text: "1989", y: 688, height: 10 },
        { text: "after", y: 676, height: 10 },
      ],
    ]);
    expect(withNumber?.text).toContain("before\n1989\nafter");
  });

  it("keeps the title, which is the running head of the other pages in smaller letters", () => {
    const pages = [1, 2, 3, 4].map((number) => [
      { text: "A Running Head", y: 760, height: number === 1 ? 17 : 8 },
      ...page(number).slice(1),
    ]);
    const [first, ...others] = joinPages(pages);
    expect(first?.text).toContain("A Running Head");
    for (const { text } of others) expect(text).not.toContain("A Running Head");
  });

  it("puts a figure or table that a sentence runs over in front of the sentence, at the top of a page behind it", () => {
    const body = (text: string, y: number) => ({ text, y, height: 10 });
    const caption = "Table 2: Successes of each hand.";
    const rows = [
      { text: "Cube 94.2", y: 680, height: 9 },
      { text: "Pen 71.0", y: 668, height: 9 },
    ];
    const [first, second] = [
      [
        body("The left hand was trained on the bench. Every third", 640),
        body("trial of the right hand was made without any light, as", 628),
        body(caption, 700),
        ...rows,
        body("the tactile sensors need none of it in their housing.", 640),
        body("Both hands then learned to turn an object that is", 628),
      ],
      [
        body("Figure 3: Both hands at work.", 700),
        body("round, which took them longer than it had taken", 660),
        body("with cubes. It was made on the bench, and not at", 648),
        body("home. So ends the comparison of the hands here.", 636),
      ],
    ];
    const [one, two] = joinPages([[body("The study begins with two hands on a table.", 652), ...first], second]);
    expect(one?.text).toMatch(/two hands on a table\.\s+Table 2: [^\n]+\s+Cube 94\.2\nPen 71\.0\s+The left hand/);
    expect(one?.text).toMatch(/without any light, as\s+the tactile sensors/);
    expect(two?.text).toMatch(/^\[p\. 2\]\s+round, which took [^]*of the hands here\.\s+Figure 3/);
  });

  it("puts the footnotes of a column behind the last sentence that ends before them, and moves no small table", () => {
    const body = (text: string, y: number) => ({ text, y, height: 10 });
    const column = [
      body("The hand was trained.", 700),
      body("It then reached far more often than before", 688),
      { text: "1 On most days.", y: 100, height: 7 },
      body("94.2 percent.", 700),
      body("And so it ended there.", 688),
    ];
    expect(joinPages([column])[0]?.text).toBe(
      "[p. 1]\nThe hand was trained.\n\n1 On most days.\n\nIt then reached far more often than before\n94.2 percent.\nAnd so it ended there.",
    );
    const table = [
      body("As the table shows. Here", 700),
      { text: "Cube 94.2", y: 688, height: 7 },
      { text: "2 71.0", y: 680, height: 7 },
    ];
    expect(joinPages([table])[0]?.text).toBe("[p. 1]\nAs the table shows. Here\nCube 94.2\n2 71.0");
  });
});
