import { describe, expect, it } from "vitest";
import type { Line } from "../../../../src/text/documents/pdf/layout.js";
import { metadataOf } from "../../../../src/text/documents/pdf/metadata.js";

type SetLine = readonly [height: number, text: string, mark?: string];

/** The lines of a first page from the top, each with its height. */
const pageOf = (...lines: readonly SetLine[]): Line[] => [
  ...lines.map(([height, text, mark], at) => ({
    text,
    height,
    y: 760 - 20 * at,
    ...(mark === undefined ? {} : { mark }),
  })),
  ...Array.from({ length: 20 }, (_, at) => ({
    text: `a line of the body, number ${at}, as it is`,
    height: 10,
    y: 500 - 12 * at,
  })),
];
const titleOf = (...lines: readonly SetLine[]) => metadataOf({}, pageOf(...lines), "").title;

describe("the title on the first page of a PDF", () => {
  it.each([
    [
      "behind a name of a journal in larger letters",
      [
        [24, "Journal of Statistical Software"],
        [17, "Meta-Analyses in R with One Package"],
      ],
    ],
    [
      "behind the number of the paper",
      [
        [18, "IMECE2020-XXXX"],
        [14, "Meta-Analyses in R with One Package"],
      ],
    ],
    [
      "behind the kind of paper",
      [
        [18, "Research Article"],
        [16, "Meta-Analyses in R with One Package"],
      ],
    ],
    [
      "above words in a picture in larger letters",
      [
        [14.3, "Meta-Analyses in R with One Package"],
        [12, "Ann Bee"],
        [20, "Paper Search"],
      ],
    ],
    [
      "with the mark of a footnote",
      [
        [17, "Meta-Analyses in R with One Package ∗†"],
        [12, "Ann Bee"],
      ],
    ],
    [
      "with a raised mark",
      [
        [17, "Meta-Analyses in R with One Packagea)", "a)"],
        [12, "Ann Bee"],
      ],
    ],
    [
      "over two lines, the first of them with a mark",
      [
        [17, "Meta-Analyses in R∗"],
        [17, "with One Package"],
        [12, "Ann Bee"],
      ],
    ],
  ] as const)("is found %s", (_, lines) => {
    expect(titleOf(...lines)).toBe("Meta-Analyses in R with One Package");
  });

  it("is a journal's name where nothing else is set large", () => {
    expect(titleOf([24, "Journal of Statistical Software"])).toBe("Journal of Statistical Software");
  });

  it("may be short, and its authors' names long", () => {
    expect(titleOf([17, "Attention"], [12, "Ann Bee, Carl Dee, Eve Eff, and Guy Aitch"])).toBe("Attention");
  });

  it("keeps what is raised and no mark", () => {
    expect(titleOf([17, "The Package AGU++", "++"])).toBe("The Package AGU++");
  });

  it("has its accents on their letters", () => {
    expect(titleOf([17, "Un ejemplo de c´omo escribir un art´ıculo"])).toBe("Un ejemplo de cómo escribir un artículo");
  });

  it.each(["R Graphics Output", "XeTeX output 2006.08.24:1913"])("stands for what a program states: %s", (stated) => {
    expect(metadataOf({ Title: stated }, pageOf([17, "What the Trial Found"]), "").title).toBe("What the Trial Found");
  });
});

describe("the authors that a PDF states", () => {
  it.each([
    ["Bee, Ann and Dee, Carl", ["Bee, Ann", "Dee, Carl"]],
    ["Ann Bee, Carl Dee and Eve Eff", ["Ann Bee", "Carl Dee", "Eve Eff"]],
    ["Ann Bee, Università di Padova, Italia", ["Ann Bee"]],
  ])("are parted: %s", (stated, authors) => {
    expect(metadataOf({ Author: stated }, [], "").authors).toEqual(authors);
  });
});

describe("the abstract of a PDF", () => {
  const long = "The gripper learned to grasp objects that it had never felt before, by touch alone, in a trial.";
  const abstractOf = (text: string) => metadataOf({}, [], text).abstract;

  it.each([
    `Abstract\n${long}\n\n1 Introduction`,
    `ABSTRACT: ${long}\nI. INTRODUCTION\nIt is`,
    `abstract\n\n${long}\n\nKeywords`,
    `Zusammenfassung. ${long}\n\n1 Einleitung`,
    `Résumé — ${long}\n\nMots-clés`,
  ])("stands under its heading: %j", (text) => expect(abstractOf(text)).toBe(long));

  it.each([
    `since the\nabstract syntax tree is built when it is compiled. ${long}\n\nMore`,
    `Abstract requirements are available to be compared with others. ${long}\n\nMore`,
    `(env.) The abstract is coded as follows. ${long}\n\nMore`,
  ])("is not what follows the word in a sentence: %j", (text) => expect(abstractOf(text)).toBeUndefined());
});

describe("a first page that is set in one size", () => {
  const prose = "We measured the force of each finger. In all of the trials the robot dropped two";
  const page = (...steps: readonly (readonly [step: number, text: string])[]): Line[] => {
    let y = 760;
    return steps.map(([step, text]) => ({ text, height: 12, y: (y -= step) }));
  };
  const body = Array.from({ length: 20 }, (): [number, string] => [14, prose]);

  it.each<[string, string | undefined, Line[]]>([
    [
      "what stands apart above the text",
      "Touch Helps the Hand",
      page([0, "Touch Helps the Hand"], [30, prose], ...body),
    ],
    [
      "what stands apart behind a running head",
      "Touch Helps the Hand",
      page([0, "TOUCH AND GRASP 1"], [60, "Touch Helps the Hand"], [40, prose], ...body),
    ],
    ["nothing where all of it is text", undefined, page(...body)],
    ["nothing where a sentence stands apart", undefined, page([0, "It works. We say why."], [30, prose], ...body)],
  ])("has as its title %s", (_, title, lines) => expect(metadataOf({}, lines, "").title).toBe(title));
});
