import { describe, expect, test } from "vitest";
import { readMarkdown } from "../../../../src/text/documents/text/markdown.js";

const body =
  "We measured heat pumps in a cold climate for two winters. They saved energy in every house. The pumps were small.";
const factsOf = (source: string, kind: "text" | "markdown" = "text") => {
  const { title, authors, date } = readMarkdown(source, kind);
  return { title, authors, date };
};

describe("a plain text says of itself", () => {
  test.each([
    [
      "its title, its authors and its year, on lines of their own",
      `Heat pumps in cold climates\nAnna Lee, Bo van der Berg\n2019\n\n${body}`,
      { title: "Heat pumps in cold climates", authors: ["Anna Lee", "Bo van der Berg"], date: "2019" },
    ],
    [
      "the same with blank lines between them, initials and a date",
      `Heat pumps in cold climates\n\nA. Lee and B. Kim\nUniversity of Oslo\n12 March 2021\n\n${body}`,
      { title: "Heat pumps in cold climates", authors: ["A. Lee", "B. Kim"], date: "2021-03-12" },
    ],
    [
      "a year behind its authors",
      `Do heat pumps save energy?\n\nLee, A., Kim, B. (2018)\n\n${body}`,
      { title: "Do heat pumps save energy?", authors: ["Lee, A.", "Kim, B."], date: "2018" },
    ],
    [
      "what stands behind words that name it",
      `Title: Heat pumps in Norway\nAuthors: Lee, Ann; Heat Pump Centre\nDate: 2020-05\n\n${body}`,
      { title: "Heat pumps in Norway", authors: ["Lee, Ann", "Heat Pump Centre"], date: "2020-05" },
    ],
    [
      "a title of two lines, and its year behind a journal",
      `The energy that small heat pumps save in the houses of\na cold climate\n\nBy Anna Lee\nEnergy and Houses 12, 2017\n\n${body}`,
      {
        title: "The energy that small heat pumps save in the houses of a cold climate",
        authors: ["Anna Lee"],
        date: "2017",
      },
    ],
  ])("%s", (_, source, wanted) => {
    expect(factsOf(source)).toEqual(wanted);
  });

  test.each([
    ["a sentence", `${body}\n\nA second paragraph.`, {}],
    ["notes", `- pumps are small\n- houses are cold\n\n${body}`, {}],
    ["one line", "Heat pumps in cold climates", {}],
    [
      "its title's second line",
      `The energy that was saved in the winter by all the\nHeat Pumps\n\n${body}`,
      { authors: undefined },
    ],
    [
      "a place",
      `Heat pumps in Norway\n\nOslo, Norway\n\n${body}`,
      { title: "Heat pumps in Norway", authors: undefined },
    ],
    [
      "words of the text",
      `Notes on houses\n\nHeat Pumps, Cold Climate\n\n${body}`,
      { title: "Notes on houses", authors: undefined },
    ],
    [
      "a year in a sentence",
      `Notes on houses\n\nThe pumps were bought in 2019.\n\n${body}`,
      { title: "Notes on houses", date: undefined },
    ],
    [
      "names in two places",
      `Notes on houses\n\nAnna Lee\nNorth Street 5\nBo Kim\n\n${body}`,
      { title: "Notes on houses", authors: undefined },
    ],
  ])("nothing where there is only %s", (_, source, wanted) => {
    const { title, authors, date } = factsOf(source);
    expect({ title, authors, date }).toMatchObject(wanted);
    if (Object.keys(wanted).length === 0) expect([title, authors, date]).toEqual([undefined, undefined, undefined]);
  });
});

test("a Markdown text has its title in its heading, authors and date below it; its front matter stands above these", () => {
  const text = `# Heat pumps in Norway\n\n*Anna Lee*, **Bo Kim**\n\n2019-05\n\n## Results\n\n${body}`;
  expect(factsOf(text, "markdown")).toEqual({
    title: "Heat pumps in Norway",
    authors: ["Anna Lee", "Bo Kim"],
    date: "2019-05",
  });
  expect(factsOf(`---\nauthor: Cy Dee\ndate: 2020\n---\n${text}`, "markdown")).toMatchObject({
    authors: ["Cy Dee"],
    date: "2020",
  });
  expect(factsOf(`Heat pumps in Norway\n====\n\n${body}`, "markdown").title).toBe("Heat pumps in Norway");
});
