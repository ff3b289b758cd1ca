import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDocument } from "../../src/text/documents/read-document.js";
import { type ReportInput, type ReportModel, reportModel } from "../../src/research/report/model.js";
import { contextOf } from "../../src/research/report/page/context.js";
import { reportPage } from "../../src/research/report/page/page.js";
import { paragraphsOf } from "../../src/research/full-text/paragraphs.js";
import { saveText } from "../../src/research/full-text/text-cache.js";
import { textsFolder } from "../../src/research/project-files/layout.js";
import { readReportInput } from "../../src/research/report/read-report.js";
import {
  emptyProject,
  halfDoneProject,
  hostileProject,
  oldProject,
  ordinaryProject,
} from "../fixtures/report-projects.js";
import { passagesProject, passageTexts } from "../fixtures/passages-project.js";
import { chromePath, complaintsOf, launch, pictureOf } from "./support/browser.js";
import { deadlines } from "../support/runner/deadlines.js";
import { looksOf } from "./support/looks.js";

const researches = fileURLToPath(new URL("../../researches/", import.meta.url));
const now = new Date("2026-11-22T12:00:00Z");
const fromFolder = async (folder: string): Promise<ReportInput> => (await readReportInput(folder, now)).input;
const foldersIn = (folder: string): string[] =>
  readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => existsSync(join(path, "rrd.json")));

/** The projects that are looked at: the sample, our own, and those of RR_PROJECTS. */
const projects: readonly (readonly [name: string, input: () => ReportInput | Promise<ReportInput>])[] = [
  ...foldersIn(researches).map((folder) => ["sample", () => fromFolder(folder)] as const),
  ["ordinary", () => ordinaryProject(30)],
  ["half-done", halfDoneProject],
  ["old", oldProject],
  ["empty", emptyProject],
  ["hostile", hostileProject],
  ...foldersIn(process.env.RR_PROJECTS ?? researches)
    .filter(() => process.env.RR_PROJECTS !== undefined)
    .map((folder) => [basename(folder).slice(0, 24), () => fromFolder(folder)] as const),
];

const widths = [390, 820, 1280];
const manners = widths.flatMap((width) =>
  (["light", "dark"] as const).flatMap((scheme) => [true, false].map((script) => ({ width, scheme, script }))),
);

interface Opened {
  readonly page: Page;
  readonly complaints: string[];
}

describe.skipIf(chromePath === undefined)("report.html in Chromium", () => {
  let folder: string;
  let browser: Browser;
  const models = new Map<string, ReportModel>();

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "rr-page-"));
    browser = await launch();
    for (const [id, text] of Object.entries(passageTexts)) await saveText(textsFolder(folder), id, text);
    const passages = async () => {
      const { rrd, ...input } = passagesProject();
      return { ...input, rrd, paragraphs: await paragraphsOf(textsFolder(folder), rrd.papers_pool) };
    };
    for (const [name, input] of [
      ...projects,
      ["many", () => ordinaryProject(320)] as const,
      ["passages", passages] as const,
    ]) {
      const model = reportModel(await input());
      models.set(name, model);
      writeFileSync(join(folder, `${name}.html`), [...reportPage(await contextOf(model))].join(""));
    }
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const modelOf = (name: string): ReportModel => models.get(name) as ReportModel;
  async function open(
    name: string,
    {
      width = 1280,
      scheme = "light",
      script = true,
    }: { width?: number; scheme?: "light" | "dark"; script?: boolean } = {},
  ): Promise<Opened> {
    const context = await browser.newContext({
      viewport: { width, height: 900 },
      colorScheme: scheme,
      javaScriptEnabled: script,
      reducedMotion: "reduce",
    });
    context.setDefaultTimeout(deadlines.expect.poll.timeout);
    const page = await context.newPage();
    const complaints = complaintsOf(page);
    await page.goto(pathToFileURL(join(folder, `${name}.html`)).href);
    return { page, complaints };
  }

  describe.each(projects.map(([name]) => name))("%s", (name) => {
    it.each(manners)("looks right at $width px, $scheme, JavaScript: $script", async (manner) => {
      const { page, complaints } = await open(name, manner);
      const kept = `${name}-${manner.width}-${manner.scheme}${manner.script ? "" : "-no-script"}`;
      await page.screenshot({ path: pictureOf(`${kept}-top`) });
      if (manner.script && manner.scheme === "light") await page.screenshot({ path: pictureOf(kept), fullPage: true });
      // Everything unfolded: what is hidden at first must look right too.
      await page.evaluate(unfold);
      const { counted, ...looks } = await looksOf(page);
      expect(looks).toEqual({ wide: [], tallButtons: [], labels: [], pale: [], unreachable: [] });
      expect(counted.texts).toBeGreaterThan(name === "empty" ? 5 : 100);
      expect(complaints).toEqual([]);
      expect(await page.evaluate("window.broken")).toBeUndefined();
      await page.context().close();
    });
  });

  it.each([true, false])(
    "says at once what was asked, what was found and how sure it is; JavaScript: %s",
    async (script) => {
      const { page } = await open("sample", { script });
      for (const id of ["question", "answer", "figures"]) {
        const box = await page.locator(`#${id}`).boundingBox();
        expect((box?.y ?? 999) + (box?.height ?? 999)).toBeLessThanOrEqual(900);
      }
      expect(await page.locator("#answer").textContent()).toMatch(/How sure: \w+:/);
      await page.context().close();
    },
  );

  it("is read by keyboard alone: every link and button is reached in the order of the page", async () => {
    const { page } = await open("ordinary");
    const count = Number(
      await page.evaluate(
        "[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex]')].filter((one) => one.checkVisibility({ contentVisibilityAuto: true })).length",
      ),
    );
    const places: number[] = [];
    for (let press = 0; press < count; press++) {
      await page.keyboard.press("Tab");
      places.push(Number(await page.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)")));
    }
    expect(new Set(places).size).toBe(count);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    await page.locator("summary.head").first().focus();
    await page.keyboard.press("Enter");
    expect(await page.locator("details.paper").first().getAttribute("open")).not.toBeNull();
    await page.context().close();
  });

  it("is measured by eyes that see: planted faults are all found", async () => {
    const { page } = await open("ordinary", { width: 390 });
    await page.evaluate(plantFaults);
    const { counted: _, ...looks } = await looksOf(page);
    expect(Object.entries(looks).filter(([, found]) => found.length === 0)).toEqual([]);
    await page.context().close();
  });

  it("filters, orders and counts papers", async () => {
    const { page, complaints } = await open("ordinary");
    const { rows } = modelOf("ordinary");
    const shown = () => page.locator("#list > .paper:visible").count();
    const presented = rows.filter(({ status }) => status === "presented").length;
    await page.click("button[data-only=presented]");
    expect(await shown()).toBe(presented);
    expect(await page.textContent("#shown")).toBe(`${presented} of ${rows.length} papers`);
    await page.click("button[data-only=presented]");
    await page.fill("#find", "HANDS calibration");
    await page.locator("#shown", { hasText: " of " }).waitFor();
    expect(await shown()).toBe(rows.filter(({ title }) => /calibration/i.test(title) && /hands/i.test(title)).length);
    await page.fill("#find", "");
    await page.selectOption("#sort", "title");
    const titles = await page.locator("#list .title").allTextContents();
    expect(titles).toEqual(titles.toSorted(new Intl.Collator("en").compare));
    await page.selectOption("#sort", "score");
    expect(await page.locator("#list .title").first().textContent()).toBe(rows[0]?.title);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it("opens the paper that a link names, and the quote within it", async () => {
    const { page } = await open("ordinary");
    await page.locator("#findings .src a[href*='-q']").first().click();
    const target = page.locator(".ev dd:target");
    await target.waitFor({ state: "visible" });
    expect(await target.locator("xpath=ancestor::details").first().getAttribute("open")).not.toBeNull();
    await page.context().close();
  });

  it("marks in the contents the one section that is being read", async () => {
    const { page, complaints } = await open("ordinary");
    for (const name of ["themes", "method"]) {
      await page.evaluate(`document.getElementById("${name}").scrollIntoView({ behavior: "instant" })`);
      await page.locator(`.contents a.on[href='#${name}']`).waitFor();
      expect(await page.locator(".contents a.on").count()).toBe(1);
    }
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it("changes between light and dark, and remembers it", async () => {
    const { page } = await open("ordinary");
    const paper = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const before = await paper();
    await page.click("#theme");
    const after = await paper();
    expect(after).not.toBe(before);
    await page.reload();
    expect(await paper()).toBe(after);
    await page.context().close();
  });

  it.each(["light", "dark"] as const)(
    "shows passages of each form within 390 px, the quoted words on a ground of their own: %s",
    async (scheme) => {
      const { page, complaints } = await open("passages", { width: 390, scheme });
      await page.evaluate(unfold);
      await page.locator("#papers").screenshot({ path: pictureOf(`passages-390-${scheme}`) });
      const { counted, ...looks } = await looksOf(page);
      expect(looks).toEqual({ wide: [], tallButtons: [], labels: [], pale: [], unreachable: [] });
      expect(counted.texts).toBeGreaterThan(30);
      const look = (what: string) => page.evaluate(`(() => { ${what} })()`);
      expect(
        await look(`const ground = (one) => getComputedStyle(one).backgroundColor;
          const marks = [...document.querySelectorAll(".ev q mark")];
          return [marks.length, marks.some((one) => ground(one) === "rgba(0, 0, 0, 0)" || ground(one) === ground(document.body))];`),
      ).toEqual([8, false]);
      // A row of a table stands below its head and its caption.
      expect(
        await look(`const row = [...document.querySelectorAll(".ev > dd > q")][1];
          return row.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(row).lineHeight)`),
      ).toBeGreaterThan(2.9);
      // What is read from right to left has its bar there.
      expect(
        await look(`const arabic = getComputedStyle([...document.querySelectorAll(".ev > dd > q")][4]);
          return [arabic.direction, arabic.borderRightWidth, arabic.borderLeftWidth]`),
      ).toEqual(["rtl", "3px", "0px"]);
      expect(complaints).toEqual([]);
      await page.emulateMedia({ media: "print" });
      expect(await look(`return getComputedStyle(document.querySelector("q mark")).textDecorationLine`)).toBe(
        "underline",
      );
      await page.context().close();
    },
  );

  it("shows no dead control without JavaScript", async () => {
    const { page } = await open("ordinary", { script: false });
    expect(await page.locator("button:visible, input:visible, select:visible").count()).toBe(0);
    expect(await page.locator("#list > .paper:visible").count()).toBe(30);
    await page.context().close();
  });

  it.each(["sample", "ordinary"])("prints the findings of %s: our own reader finds them in the PDF", async (name) => {
    const { page, complaints } = await open(name);
    const bytes = await page.pdf({ preferCSSPageSize: true, format: "A4" });
    const read = await readDocument(bytes, { name: `${name}.pdf` });
    if (read.status !== "ok") throw new Error(JSON.stringify(read).slice(0, 300));
    const { text } = read.text;
    const plain = (words: string) => words.replace(/[\s*`\u00ad-]+/g, "");
    // A sentence may go on over the page: the mark of the next one and the number of this one stand between.
    const printed = plain(text.replace(/^\[p\. \d+\]$/gm, "").replace(/^\s*\d+ ?\/ ?\d+\s*$/gm, ""));
    for (const { text: finding } of modelOf(name).findings) expect(printed).toContain(plain(finding));
    expect(printed).toContain(plain(modelOf(name).question));
    // Presented papers are printed unfolded.
    const [best] = modelOf(name).rows;
    if (best !== undefined) expect(printed).toContain(plain(modelOf(name).entry(best).summary).slice(0, 60));
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it("lays out only what it shows of many papers, and all of them on paper", async () => {
    const { page, complaints } = await open("many");
    expect(await page.evaluate("getComputedStyle(document.querySelector('.paper')).contentVisibility")).toBe("auto");
    await page.emulateMedia({ media: "print" });
    expect(await page.evaluate("getComputedStyle(document.querySelector('.paper')).contentVisibility")).toBe("visible");
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});

/** One fault of each kind that looksOf looks for. */
const plantFaults = `
  const add = (words) => document.querySelector("main").insertAdjacentHTML("afterbegin", words);
  add("<p class=wide-one>wide</p><button class=tall>one two three four five six seven</button><p class=pale>pale</p><input size=4>");
  const style = (selector, change) => Object.assign(document.querySelector(selector).style, change);
  style(".wide-one", { width: "500px" });
  style(".tall", { width: "40px" });
  style(".pale", { color: "rgb(150, 150, 150)" });
  const svg = document.querySelector("figure svg.narrow");
  const label = svg.querySelector("text");
  svg.append(label.cloneNode(true));`;

/** Opens whatever folds, as a reader would. */
const unfold = "for (const one of document.querySelectorAll('details')) one.open = true";
