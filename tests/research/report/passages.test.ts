import { load } from "cheerio";
import { describe, expect, test } from "vitest";
import { buildText } from "../../../src/text/documents/text/document-text.js";
import { withNumbers } from "../../../src/text/evidence/numbers/check-numbers.js";
import { paragraphsOf } from "../../../src/research/full-text/paragraphs.js";
import { saveText } from "../../../src/research/full-text/text-cache.js";
import type { ReportFile } from "../../../src/research/generated/report.js";
import type { Answer } from "../../../src/research/generated/answer.js";
import type { Evidence, Rrd } from "../../../src/research/generated/rrd.js";
import { textsFolder } from "../../../src/research/project-files/layout.js";
import { markdownOf } from "../../../src/research/report/documents/markdown.js";
import { type ReportInput, reportModel } from "../../../src/research/report/model.js";
import { doubtsOf } from "../../../src/research/report/narrative/check.js";
import { contextOf } from "../../../src/research/report/page/context.js";
import { reportPage } from "../../../src/research/report/page/page.js";
import { keptQuote, passagesProject, passageTexts } from "../../fixtures/passages-project.js";
import { temporaryFolder } from "../../support/folders.js";
import { paper, rrdWith } from "../../support/projects/research.js";

const now = new Date("2026-11-22T12:00:00Z");
const bare: ReportInput = { rrd: rrdWith([]), ledger: [], queries: [], answers: [], now };
const pageOf = async (input: ReportInput) => load([...reportPage(await contextOf(reportModel(input)))].join(""));
const section = (text: string, title: string) => text.split(`\n## ${title}\n`)[1]?.split(/\n## /)[0] ?? "";
const said = (text: string, rests_on: string[]): ReportFile => ({
  written_at: "2026-11-22T10:00:00Z",
  question: "How long does it take?",
  answer: [{ text, rests_on }],
  findings: [{ text, rests_on }],
  agreed: [],
  disputed: [],
  gaps: [],
  themes: [],
  recommendations: [],
});

describe("the passage of a quote in a report", () => {
  test("is the paper's sentence with the quoted words in bold in Markdown, a row of a table in lines", () => {
    const evidence = section(markdownOf(reportModel(passagesProject())), "Evidence");
    expect(evidence).toContain(
      "  > We found no evidence that, at a dose of 0.1 mg, <b>the drug lowered the mortality of any patient</b>. ",
    );
    expect(evidence).toContain(
      "  > Table 2. Success in percent.  \n  > Gripper · Wet · Dry  \n  > <b>Hard · 51 · 93</b> ",
    );
    expect(evidence).toContain(
      "<b>The old drug lowered the pressure</b> by 4 mmHg, the new one raised it <b>by 9 mmHg</b>",
    );
    expect(evidence).toContain(`<b>该药在任何剂量下降低患者死亡率</b>的证据。`);
  });

  test("is marked in the page, reads from right to left where its script does, and says how the quote is cut", async () => {
    const page = await pageOf(passagesProject());
    const passages = page(".ev q").toArray();
    expect(passages.map((one) => page(one).find("mark").length)).toEqual([1, 1, 2, 1, 1, 1]);
    expect(page(passages[0]).text()).toBe(
      "We found no evidence that, at a dose of 0.1 mg, the drug lowered the mortality of any patient.",
    );
    expect(page(passages[1]).text().split("\n")).toEqual([
      "Table 2. Success in percent.",
      "Gripper · Wet · Dry",
      "Hard · 51 · 93",
    ]);
    expect(passages.map((one) => page(one).attr("dir"))).toEqual([
      ...Array.from({ length: 4 }, () => undefined),
      expect.stringMatching(/auto|rtl/),
      undefined,
    ]);
    const notes = page(".ev dd small")
      .toArray()
      .map((one) => page(one).text());
    expect(notes[0]).toContain("the sentence begins before the quoted words");
    expect(notes[1]).not.toContain("the sentence");
    expect(notes[2]).toContain("the sentence goes on");
  });

  test("that was cut unfolds to its whole paragraph where the text is kept, in which the quoted words are marked", async () => {
    const folder = temporaryFolder();
    const input = passagesProject();
    for (const [id, text] of Object.entries(passageTexts)) await saveText(textsFolder(folder), id, text);
    const paragraphs = await paragraphsOf(textsFolder(folder), input.rrd.papers_pool);
    const page = await pageOf({ ...input, paragraphs });
    const whole = page(".ev details q");
    expect(whole).toHaveLength(1);
    expect(whole.text()).toMatch(/^It all began long ago\. .* and that ends it\.$/);
    expect(whole.find("mark").text()).toBe("the long sentence held its quoted words");
    expect(page(".ev > dd > q").last().text()).toContain("[…]");
    expect(page(".ev details summary").first().text()).toBe("The whole paragraph");
    expect((await pageOf(input))(".ev details")).toHaveLength(0);
  });

  test("is looked up in no text but the one that was read", async () => {
    const folder = temporaryFolder();
    const other = buildText([{ label: "p. 1", text: `${passageTexts["cut"]?.text} More.` }], {
      kind: "text",
      depth: "full",
    });
    await saveText(textsFolder(folder), "cut", other);
    expect((await paragraphsOf(textsFolder(folder), passagesProject().rrd.papers_pool)).size).toBe(0);
  });
});

describe("a number of a sentence that the quoted words do not hold", () => {
  const sentence =
    "In 1,200 trials at 3 sites the hand held 94 percent of the wet spheres, but 51 percent of the cubes.";
  const evidence: Evidence = keptQuote(sentence, "the hand held 94 percent of the wet spheres", "It holds.");
  const input = (text: string): ReportInput => ({
    ...bare,
    rrd: rrdWith([paper("p1", { status: "presented", analysis: { summary: "s", evidence: [evidence] } })]),
    report: said(text, ["p1#1"]),
  });

  test.each([
    ["It held 94 percent.", undefined],
    ["It held 51 percent.", "in the sentence, outside the quoted words: 51 percent"],
    ["It held 77 percent.", "number not in the passage: 77 percent"],
  ])("%s is marked: %s", async (text, mark) => {
    const model = reportModel(input(text));
    const markdown = section(markdownOf(model), "Findings");
    const chips = (page: Awaited<ReturnType<typeof pageOf>>) =>
      page("#findings .chip")
        .toArray()
        .map((one) => page(one).text());
    if (mark === undefined) {
      expect(markdown).not.toContain("**[");
      expect(chips(await pageOf(input(text)))).toEqual([]);
      expect(doubtsOf(model)).toEqual([]);
    } else {
      expect(markdown).toContain(`${text} **[${mark}]**`);
      expect(chips(await pageOf(input(text)))).toEqual([mark]);
      expect(doubtsOf(model).map(({ where, reason }) => [where, reason])).toContainEqual(["Findings", mark]);
    }
  });

  test("is named beside the quote of a claim too, in Markdown and page", async () => {
    const claims = withNumbers([
      { ...evidence, claim: "It held 51 percent." },
      { ...evidence, claim: "It held 77 percent of 2,000." },
    ]);
    const rrd = rrdWith([paper("p1", { status: "presented", analysis: { summary: "s", evidence: claims } })]);
    const model = reportModel({ ...bare, rrd });
    for (const text of [section(markdownOf(model), "Evidence"), (await pageOf({ ...bare, rrd }))(".ev").text()]) {
      expect(text).toContain("in the sentence, outside the quoted words: 51 percent");
      expect(text).toContain("number not in the passage: 77 percent, 2,000");
    }
  });
});

describe("the passage in Markdown", () => {
  const of = (text: string, quote: string, claim: string) => {
    const evidence = [keptQuote(text, quote, claim)];
    const rrd = rrdWith([paper("p1", { status: "presented", analysis: { summary: "s", evidence } })]);
    return { ...bare, rrd, report: said(claim, ["p1#1"]) };
  };

  test("is shown where a finding has the quoted words and the paper's sentence more", () => {
    const words = "The drug lowered the mortality of all";
    const findings = (text: string) => section(markdownOf(reportModel(of(text, words, words))), "Findings");
    expect(findings("It began. It is not so that the drug lowered the mortality of all. It ended.")).toContain(
      "  > It is not so that <b>the drug lowered the mortality of all</b>.",
    );
    expect(findings("It began. The drug lowered the mortality of all. It ended.")).toContain("  > In these words: ");
  });

  test.each(["# One", "1. One", "12) One", "- One", "+ One", "* One", "> One", "=== One", "| One"])(
    "begins no heading and no list with %s",
    (start) => {
      const passage = `${start} of them was seen to hold the wet spheres, see [this](http://x.example/).`;
      const from = passage.indexOf("was seen");
      const evidence: Evidence[] = [{ claim: "c", status: "verified", passage, quoted: `${from}-${from + 20}` }];
      const rrd = rrdWith([paper("p1", { status: "presented", analysis: { summary: "s", evidence } })]);
      const markdown = section(markdownOf(reportModel({ ...bare, rrd, report: said("c", ["p1#1"]) })), "Evidence");
      const line = markdown.split("\n").find((each) => each.includes("One of them")) ?? "";
      if (start !== "=== One") expect(line).toMatch(/^ {2}> (?:\d{0,2}\\)/);
      expect(line).toContain("[this]\\(http://x.example/)");
    },
  );
});

describe("words of an earlier version", () => {
  test("are said to lack their sentence in an answer of ask and in one to a criterion, unless they were not found", async () => {
    const criteria = ["c1", "c2"].map((id) => ({ id, kind: "include" as const, text: `It is of ${id}.` }));
    const answers = [
      {
        criterion: "c1",
        stage: "screening" as const,
        answer: "yes" as const,
        quote: "a soft gripper",
        locator: "title",
      },
      { criterion: "c2", stage: "screening" as const, answer: "unclear" as const, quote: "a hard gripper" },
    ];
    const rrd = { ...rrdWith([paper("p1", { status: "presented", answers })]), requirements: { criteria } } as Rrd;
    const asked = {
      id: "answer-1",
      question: "Does it help?",
      at: "2026-11-22T10:00:00Z",
      dropped: 0,
      statements: [{ text: "It does.", rests_on: ["p1#1"] }],
      quotes: [{ handle: "p1#1", paper: "p1", quote: "touch helped in wet sand" }],
    } as unknown as Answer;
    const input = { ...bare, rrd, answers: [asked] };
    for (const text of [markdownOf(reportModel(input)), (await pageOf(input))("body").text()])
      expect(text.match(/the words around it are not stored/g)).toHaveLength(2);
  });
});
