import MarkdownIt from "markdown-it";
import { expect, test } from "vitest";
import { markdownOf } from "../../../src/research/report/documents/markdown.js";
import { type ReportInput, reportModel } from "../../../src/research/report/model.js";
import { ordinaryProject } from "../../fixtures/report-projects.js";
import fc from "../../support/runner/fast-check.js";

/** Fields of records, of an agent's narrative and of answers that hold words of others. */
const words = new Set(
  `title authors venue abstract summary methodology results limitations claim quote passage locator insight tags text
  question notes warnings reason reasons statement name idea_name one_liner problem solution description mission marks
  aspect approaches implementations_found commercialized keywords focus_area query publisher label value says`.split(
    /\s+/,
  ),
);

const pieces = [
  ...["](https://evil.test/login)", "[in](https://evil.test)", "[x]: https://evil.test", "][x]", "[x]", "![", "]", "["],
  ...[
    "(",
    ")",
    ":",
    "`",
    "``",
    "\\",
    "\\\\",
    "<https://evil.test>",
    "<",
    ">",
    "|",
    "*",
    "_",
    "~",
    "$",
    "#",
    "- ",
    "> ",
  ],
  ...["\n", "\n\n", "1. ", "&#91;", "&lt;", "Smith", " ", '<a href="https://evil.test">', "(mailto:a@evil.test)"],
];

/** The input with the words of others replaced, each by the next of these. */
function hostile(input: ReportInput, texts: readonly string[]): ReportInput {
  let next = 0;
  const text = (was: string) => `${texts[(next += 1) % texts.length] ?? ""}${next % 3 === 0 ? was : ""}`;
  const mapped = (value: unknown, isWords: boolean): unknown => {
    if (typeof value === "string") return isWords ? text(value) : value;
    if (Array.isArray(value)) return value.map((each) => mapped(each, isWords));
    if (typeof value !== "object" || value === null || value instanceof Date) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapped(each, words.has(key))]));
  };
  const { rrd, report, ideas, answers } = input;
  return { ...input, ...(mapped({ rrd, report, ideas, answers }, false) as object) };
}

const markdown = new MarkdownIt({ html: true });

/**
 * Where the links and images of a page lead, also those that stand as tags; without the words that a link to a passage
 * names.
 */
const linksOf = (text: string): string[] =>
  [...markdown.render(text).matchAll(/<[a-z]+\b[^>]*?\s(?:href|src)="([^"]*)"/g)].map(([, to = ""]) =>
    to.replace(/#:~:text=.*/, ""),
  );

test("no link of a report is made by a record, a passage or an agent's narrative", () => {
  const ordinary = ordinaryProject(6);
  const own = linksOf(markdownOf(reportModel(ordinary))).filter((to) => !to.startsWith("#"));
  expect(own.length).toBeGreaterThan(0);
  const text = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 7 }).map((some) => some.join(""));
  fc.assert(
    fc.property(fc.array(text, { minLength: 20, maxLength: 40 }), (texts) => {
      const links = linksOf(markdownOf(reportModel(hostile(ordinary, texts))));
      expect(links.filter((to) => !to.startsWith("#") && !own.includes(to))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test("a citation of an author whose name would end its link leads to its quote", () => {
  const input = ordinaryProject(3);
  const papers = input.rrd.papers_pool.map((one) => ({ ...one, authors: ["Smith](https://evil.test/login)"] }));
  const shown = markdownOf(reportModel({ ...input, rrd: { ...input.rrd, papers_pool: papers } }));
  expect(shown).toContain("[Smith\\](https://evil.test/login)");
  const rendered = markdown.render(shown);
  expect(rendered).toMatch(/<a href="#[^"]+">Smith\](?:\(https:\/\/evil\.test\/login\))?[^<]*<\/a>/);
  expect(rendered).not.toContain('href="https://evil.test');
});
