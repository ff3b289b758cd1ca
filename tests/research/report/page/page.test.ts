import { createHash } from "node:crypto";
import { load } from "cheerio";
import { describe, expect, it } from "vitest";
import type { Paper } from "../../../../src/research/generated/rrd.js";
import { sections } from "../../../../src/research/report/sections/sections.js";
import { markdownOf } from "../../../../src/research/report/documents/markdown.js";
import { type ReportInput, reportModel } from "../../../../src/research/report/model.js";
import { contextOf } from "../../../../src/research/report/page/context.js";
import { shownSections, reportPage, sectionText } from "../../../../src/research/report/page/page.js";
import { maxEntries } from "../../../../src/research/report/page/papers.js";
import { anchorOf } from "../../../../src/research/report/pictures/picture.js";
import {
  emptyProject,
  halfDoneProject,
  hostileProject,
  oldProject,
  ordinaryProject,
} from "../../../fixtures/report-projects.js";

const render = async (input: ReportInput): Promise<string> =>
  [...reportPage(await contextOf(reportModel(input)))].join("");

describe("report.html", () => {
  it("has its sections in one order, and leaves out those that hold nothing", async () => {
    const page = load(await render(ordinaryProject(30)));
    const ids = page("main > section")
      .toArray()
      .map((section) => page(section).attr("id"));
    expect(ids).toEqual(sections.map(({ name }) => name).filter((name) => ids.includes(name)));
    expect(ids).not.toContain("ideas");
    expect(
      load(await render(emptyProject()))("main > section")
        .toArray()
        .map(({ attribs }) => attribs.id),
    ).toEqual(expect.not.arrayContaining(["findings", "papers", "scores", "map"]));
  });

  it("is the same bytes for the same records of a day", async () => {
    const input = ordinaryProject(60);
    expect(await render({ ...input, now: new Date("2026-11-22T23:00:00Z") })).toBe(await render(input));
  });

  it("lets nothing run but its own style and script, by their hashes", async () => {
    const page = load(await render(hostileProject()));
    const policy = page("meta[http-equiv=Content-Security-Policy]").attr("content") ?? "";
    expect(policy).toMatch(/^default-src 'none';/);
    for (const element of ["style", "script"]) {
      const all = page(element);
      expect(all).toHaveLength(1);
      expect(policy).toContain(`'sha256-${createHash("sha256").update(all.text()).digest("base64")}'`);
    }
    const attributes = page("*")
      .toArray()
      .flatMap((element) => Object.entries("attribs" in element ? element.attribs : {}));
    expect(attributes.filter(([name]) => /^on|^style$/i.test(name))).toEqual([]);
    const addresses = attributes.flatMap(([name, value]) => (["href", "src"].includes(name) ? [value] : []));
    expect(addresses.filter((address) => !/^(?:https?:\/\/|#|data:,$)/.test(address))).toEqual([]);
    expect(page("img, iframe, object, embed, form, svg svg")).toHaveLength(0);
  });

  it("takes marks out of text from outside that hide or reorder it", async () => {
    const text = await render(hostileProject());
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069\ufeff]/);
    expect(text).toContain('dir="auto"');
  });

  it("links every name within the page to something that is there, once", async () => {
    for (const input of [ordinaryProject(40), hostileProject(), halfDoneProject(), oldProject()]) {
      const page = load(await render(input));
      const ids = page("[id]")
        .toArray()
        .map((element) => page(element).attr("id") ?? "");
      expect(new Set(ids).size).toBe(ids.length);
      const wanted = page("a[href^='#']")
        .toArray()
        .map((element) => (page(element).attr("href") ?? "").slice(1));
      expect(wanted.filter((id) => !ids.includes(id))).toEqual([]);
      expect(wanted.length).toBeGreaterThan(10);
    }
  });

  it("opens a quote where it stands: the page of a PDF, the words of a page", async () => {
    const page = load(await render(ordinaryProject(10)));
    const addresses = page(".ev small a")
      .toArray()
      .map((element) => page(element).attr("href") ?? "");
    expect(addresses.length).toBeGreaterThan(30);
    for (const address of addresses) expect(address).toMatch(/^https:\/\/\S+#(?:page=\d+|:~:text=[^#]+)$/);
  });

  it("counts the quotes of a paper alike in its row, its evidence and the Markdown, also those not in the text", async () => {
    const input = ordinaryProject(1);
    const page = load(await render(input));
    expect(page(".paper .head .meta").text()).toContain("6 of 8 quotes\u00a0✓");
    expect(page(".ev dt").text()).toContain("6 of 8 quotes found");
    expect(markdownOf(reportModel(input))).toContain("- **Evidence:** [6 of 8 quotes found in the text]");
  });

  it("says that the sum of quotes leaves out a paper that waits for a person", () => {
    const input = ordinaryProject(2);
    const [first, ...papers] = input.rrd.papers_pool as [Paper, ...Paper[]];
    const rrd = { ...input.rrd, papers_pool: [{ ...first, status: "waiting" as const }, ...papers] };
    const label = ({ figures }: ReturnType<typeof reportModel>) => figures.find(({ name }) => name === "quotes")?.label;
    expect(label(reportModel(input))).toBe("quotes found in the text");
    expect(label(reportModel({ ...input, rrd }))).toBe(
      "quotes found in the text, without 1 paper that waits for a person",
    );
  });

  it("marks a number and a source that nothing carries", async () => {
    const { report, ...input } = ordinaryProject(10);
    if (report === undefined) throw new Error("no report");
    const [first] = report.findings;
    const findings = [{ text: "It reached 12.34 % everywhere.", rests_on: [...(first?.rests_on ?? []), "nobody#7"] }];
    const page = load(await render({ ...input, report: { ...report, findings } }));
    expect(
      page("#findings .chip")
        .toArray()
        .map((chip) => page(chip).text()),
    ).toEqual([expect.stringContaining("number not in the passage: 12.34"), "source nobody#7 not found"]);
  });

  it("renders Markdown of an agent, and neither its HTML nor its pictures nor its other links", async () => {
    const page = load(await render(oldProject()));
    expect(page("#answer strong").text()).toBe("cheap");
    expect(page("#findings code").text()).toBe("code");
    expect(page("#findings a[href='https://example.org']").text()).toBe("a page");
    expect(page("#findings").text()).toContain("a picture");
    const hostile = load(await render(hostileProject()));
    expect(hostile("#findings b, #findings img")).toHaveLength(0);
    expect(hostile("#findings").text()).toContain("<b>bold</b>");
  });

  it("has whole entries of the best thousand papers and a row with its reason of every other", async () => {
    const input = ordinaryProject(1200);
    const model = reportModel(input);
    const page = [...reportPage(await contextOf(model))].join("");
    expect(page).toContain('<div id="list" class="far">');
    expect(page.split('<details class="paper ')).toHaveLength(maxEntries + 1);
    const others = model.rows.slice(maxEntries);
    expect(page.split('<div class="paper ')).toHaveLength(others.length + 1);
    for (const row of others.slice(0, 30)) {
      const at = page.indexOf(` id="${anchorOf(row.id)}"`);
      const text = load(page.slice(page.lastIndexOf("<div", at), page.indexOf('<div class="paper ', at)))("*").text();
      expect(text).toContain(row.title);
      if (row.why !== "") expect(text).toContain(row.why);
    }
  });

  it("tells without colour what was decided, how strong a finding is and whether a quote was found", async () => {
    const page = load(await render(ordinaryProject(30)));
    for (const chip of page("#list .chip").toArray())
      expect(page(chip).text()).toMatch(/^(?:Included|Kept for insights|Rejected|Not read|Retracted)$/);
    expect(page("#findings .how").first().text()).toMatch(/^[●○]{5} \d/);
    expect(page("#findings .words .meta, #findings .words small").first().text()).toContain("✓ found in the text");
  });

  it("shows the criteria, what they excluded, and next to the answer that papers wait for a person", async () => {
    const { rrd, ...input } = ordinaryProject(12);
    const criteria = [
      { id: "c1", kind: "include" as const, text: "It measures <something> on people." },
      { id: "c2", kind: "exclude" as const, text: "It is an animal study." },
    ];
    const [open, out, ...others] = rrd.papers_pool;
    if (open === undefined || out === undefined) throw new Error("no papers");
    const answer = (criterion: string, said: "yes" | "no" | "unclear") => ({
      criterion,
      stage: "full_text" as const,
      answer: said,
    });
    const rats = { ...answer("c2", "yes"), quote: "We took forty rats.", locator: "p. 2" };
    const papers_pool = [
      { ...open, status: "waiting" as const, answers: [answer("c1", "unclear"), answer("c2", "no")] },
      { ...out, status: "rejected" as const, excluded_by: "c2", answers: [answer("c1", "yes"), rats] },
      ...others.map((paper) => ({ ...paper, answers: [answer("c1", "yes"), answer("c2", "no")] })),
    ];
    const requirements = { ...rrd.requirements, criteria };
    const page = load(await render({ ...input, rrd: { ...rrd, requirements, papers_pool } }));
    const rows = (title: string) =>
      page(`#method h3:contains("${title}")`)
        .next()
        .find("tr")
        .toArray()
        .map((row) =>
          page(row)
            .children()
            .toArray()
            .map((cell) => page(cell).text()),
        );
    expect(rows("Eligibility criteria")).toEqual(criteria.map(({ id, kind, text }) => [id, kind, text]));
    expect(rows("Not eligible at full text")).toEqual([["c2 applies (It is an animal study)", "1"]]);
    expect(page("#method").text().split("It measures"), "a criterion stands once in Method").toHaveLength(2);
    const entry = page(`[id="${anchorOf(out.id)}"]`).text();
    expect(entry).toContain("c2 It is an animal study: ✓ yesWe took forty rats.");
    expect(page("#answer > .note").text()).toContain("1 paper waits for your decision");
    expect(page("#scores .note").text()).not.toContain("waits");
  });

  it("cuts a title of thousands of letters in lists, and has the whole of it with the paper", async () => {
    const input = hostileProject();
    const { title } = input.rrd.papers_pool.find(({ title }) => title.length > 2000) ?? { title: "" };
    const page = load(await render(input));
    const whole = page('#list .body dt:contains("Title") + dd');
    expect(whole.toArray().map((element) => page(element).text())).toEqual([title]);
    for (const element of page("#list .title, .refs li").toArray())
      expect(page(element).text().length).toBeLessThan(1000);
  });

  it("keeps names from right to left apart from the year and the place next to them", async () => {
    const input = ordinaryProject(3);
    const [first, ...others] = input.rrd.papers_pool;
    if (first === undefined) throw new Error("no papers");
    const papers_pool = [{ ...first, authors: ["محمد علي"], date: "2024-03-01" }, ...others];
    const page = load(await render({ ...input, rrd: { ...input.rrd, papers_pool } }));
    expect(page(`[id="${anchorOf(first.id)}"] .head .meta`).html()).toMatch(/^<bdi>محمد علي<\/bdi> · 2024 · /);
    expect(page(".refs bdi").first().text()).toBe("محمد علي");
  });

  it("says at its top what of the folder could not be read", async () => {
    const context = { ...(await contextOf(reportModel(ordinaryProject(3)))), notices: ["rrd.json <is> broken."] };
    expect(load([...reportPage(context)].join(""))("header .note").text()).toBe("rrd.json <is> broken.");
  });

  it("gives each section alone as it stands in the whole page, for a page that follows a run", async () => {
    const context = await contextOf(reportModel(halfDoneProject()));
    const whole = [...reportPage(context)].join("");
    for (const section of shownSections(context)) expect(whole).toContain(sectionText(section, context));
  });
});
