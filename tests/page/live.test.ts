import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageFile } from "../../src/engine/lib/package-root.js";
import { parseRrd } from "../../src/research/project-files/rrd-file.js";
import type { ReportInput } from "../../src/research/report/model.js";
import {
  emptyProject,
  halfDoneProject,
  hostileProject,
  oldProject,
  ordinaryProject,
} from "../fixtures/report-projects.js";
import { sharedPackage } from "../support/processes/built.js";
import { served } from "../web/served.js";
import { chromePath, complaintsOf, launch, pictureOf } from "./support/browser.js";
import { deadlines } from "../support/runner/deadlines.js";
import { looksOf } from "./support/looks.js";

const nothingWrong = { wide: [], tallButtons: [], labels: [], pale: [], unreachable: [] };
const manners = [390, 820, 1280].flatMap((width) =>
  (["light", "dark"] as const).flatMap((scheme) => [true, false].map((script) => ({ width, scheme, script }))),
);

const projects: readonly (readonly [string, () => ReportInput])[] = [
  ["ordinary", () => ordinaryProject(30)],
  ["half-done", halfDoneProject],
  ["old", oldProject],
  ["empty", emptyProject],
  ["hostile", hostileProject],
];

/** The folder of this repository that holds the sample, and those of the fixtures, as one folder of projects. */
function writeProjects(cwd: string): void {
  const researches = join(cwd, "researches");
  mkdirSync(researches);
  for (const name of readdirSync(packageFile("researches")))
    cpSync(packageFile(join("researches", name)), join(researches, "sample"), { recursive: true });
  for (const [name, input] of projects) {
    const { rrd, ledger } = input();
    mkdirSync(join(researches, name));
    const state = JSON.stringify(rrd);
    expect([name, parseRrd(state, "rrd.json").problems]).toEqual([name, undefined]);
    writeFileSync(join(researches, name, "rrd.json"), state);
    writeFileSync(join(researches, name, "ledger.jsonl"), ledger.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }
}

const freshFolder = () => realpathSync(mkdtempSync(join(tmpdir(), "rr-live-")));

describe.skipIf(chromePath === undefined)("the local page in Chromium", () => {
  let browser: Browser;
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    browser = await launch();
    await sharedPackage();
  });
  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    await browser.close();
  });

  async function open(address: string, how: BrowserContextOptions = {}) {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 900 },
      reducedMotion: "reduce",
      ...how,
    });
    context.setDefaultTimeout(deadlines.expect.poll.timeout);
    const page = await context.newPage();
    const complaints = complaintsOf(page);
    await page.goto(address);
    return { page, complaints };
  }

  it.each(manners)("looks right at $width px, $scheme, JavaScript: $script", async ({ width, scheme, script }) => {
    const cwd = freshFolder();
    writeProjects(cwd);
    const { newAddress, origin } = await served(cwd);
    const how = { viewport: { width, height: 900 }, colorScheme: scheme, javaScriptEnabled: script };
    const { page, complaints } = await open(newAddress(), how);
    const paths = [
      ["list", "/"],
      ...["sample", ...projects.map(([name]) => name)].map((name) => [name, `/p/${name}/`]),
      ["reading", "/p/sample/paper/sample_01"],
    ] as const;
    for (const [name, path] of paths) {
      await page.goto(origin + path);
      await page.screenshot({ path: pictureOf(`live-${name}-${width}-${scheme}${script ? "" : "-no-script"}`) });
      const { counted, ...looks } = await looksOf(page);
      expect([name, looks]).toEqual([name, nothingWrong]);
      expect(counted.texts).toBeGreaterThan(5);
    }
    // Leaving a page ends its stream.
    expect(complaints.filter((one) => !one.endsWith("/events"))).toEqual([]);
    expect(await page.evaluate("window.broken")).toBeUndefined();
    await page.context().close();
    rmSync(cwd, { recursive: true });
  });

  /** Starts the built command as a person would; `said` holds what it printed. */
  async function start(args: readonly string[], cwd: string, env: Record<string, string> = {}) {
    const child = spawn(process.execPath, [join(await sharedPackage(), "dist/cli.js"), ...args], {
      cwd,
      env: { PATH: process.env["PATH"], HOME: cwd, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    children.push(child);
    const said = { out: "", err: "" };
    child.stdout.on("data", (text) => (said.out += text));
    child.stderr.on("data", (text) => (said.err += text));
    const ended = new Promise<number | null>((done) => child.once("exit", done));
    return { child, said, ended };
  }
  const withAgent = async () => ({
    args: [
      "--agent",
      `cmd:${process.execPath} ${packageFile("tests/support/processes/slow-agent.mjs")}`,
      "--unconfined",
      "--no-git",
    ],
    env: { BASELINE: join(await sharedPackage(), "dist/baseline-agent.js"), WAIT: "250" },
  });
  const text = (page: Page, selector: string) => page.locator(selector).first().textContent();

  it("follows a demo run to its end, keeps what a person has open, and its button pauses the run", async () => {
    const cwd = freshFolder();
    const { args, env } = await withAgent();
    const web = await start(["web"], cwd);
    await expect.poll(() => web.said.out).toContain("\n");
    const { page, complaints } = await open(web.said.out.trim());
    expect(await text(page, "#none")).toContain("There is no project and no task yet");

    const run = await start(["demo", ...args], cwd, env);
    await page.locator("article.project a").click();
    await page.locator(".agent .stream li").first().waitFor();
    expect(await text(page, "#now")).toContain("Running");
    await page.locator("#list .paper").first().waitFor();

    // What a person is about: words half written, a filter, a paper unfolded in the middle of the window.
    await page.locator("#steering > summary").click();
    await page.fill("#words", "look at the th");
    await page.fill("#find", "hand");
    await expect.poll(() => text(page, "#shown")).toMatch(/^\d of 11 papers$/);
    await page.locator("#list .paper:not([hidden]) > summary").last().click();
    const unfolded = page.locator("#list .paper[open]");
    const id = (await unfolded.getAttribute("id")) ?? "";
    await unfolded.scrollIntoViewIfNeeded();
    const place = async () => Math.round((await page.locator(`[id="${id}"]`).boundingBox())?.y ?? -1);
    const [before, count] = [await place(), await text(page, "#now .progress")];
    await expect.poll(() => text(page, "#now .progress")).not.toBe(count);
    await page.waitForTimeout(400);
    expect(Math.abs((await place()) - before)).toBeLessThanOrEqual(4);
    expect(await page.locator(`[id="${id}"]`).getAttribute("open")).not.toBeNull();
    expect(await page.inputValue("#words")).toBe("look at the th");
    expect(await page.inputValue("#find")).toBe("hand");
    expect(await text(page, "#shown")).toMatch(/^\d of 11 papers$/);
    await page.screenshot({ path: pictureOf("live-run-in-the-middle") });

    await page.fill("#words", "Look at the <b>thumb</b> first.");
    await page.locator("#steering form", { hasText: "Send" }).getByRole("button").click();
    await expect.poll(() => text(page, "#steering ul")).toContain("Look at the <b>thumb</b> first.");
    await page.evaluate("scrollTo(0, 0)");
    await page.screenshot({ path: pictureOf("live-run") });
    await page.getByRole("button", { name: "Pause" }).click();
    await expect.poll(() => text(page, "#said")).toContain("ends before its next iteration");
    const [name = ""] = readdirSync(join(cwd, "researches"));
    expect(existsSync(join(cwd, "researches", name, "PAUSE"))).toBe(true);
    expect(await run.ended).toBe(5);
    await expect.poll(() => text(page, "#now")).toContain("Paused");
    expect(await page.locator(".agent").count()).toBe(0);
    await page.screenshot({ path: pictureOf("live-paused") });

    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    const rest = await start(["run", ...args], cwd, { ...env, WAIT: "60" });
    expect([await rest.ended, rest.said.err.slice(-400)]).toEqual([0, expect.any(String)]);
    await expect.poll(() => text(page, "#now")).toContain("Finished");
    await expect.poll(() => page.locator("#findings").count()).toBe(1);
    expect(await text(page, "#now .progress")).toContain("11 of 11");
    expect(await page.locator(`[id="${id}"]`).getAttribute("open")).not.toBeNull();
    // What was changed piece by piece is what a new page shows.
    await page.fill("#find", "");
    await expect.poll(() => text(page, "#shown")).toBe("11 papers");
    const grown = await page.locator("main").innerHTML();
    await page.reload();
    const fresh = await page.locator("main").innerHTML();
    const plain = (html: string) =>
      html.replace(/<p id="said"[^]*?<\/p>| open=""| style=""| class="on"| hidden=""|<time [^]*?<\/time>|\s+/g, "");
    expect(plain(grown).split(/(?=<)/)).toEqual(plain(fresh).split(/(?=<)/));
    await page.screenshot({ path: pictureOf("live-finished"), fullPage: true });
    // What the list was asking for when its link was followed is given up, and no fault.
    expect(complaints.filter((one) => !/^not loaded: .*\/(?:events|parts\/project-[\w-]+)$/.test(one))).toEqual([]);

    web.child.kill("SIGINT");
    expect(await web.ended).toBe(0);
    await expect.poll(() => text(page, "#said")).toContain("The connection to research-ralph is lost");
    await page.context().close();
  });

  it("catches up once a lost connection is back", async () => {
    const cwd = freshFolder();
    writeProjects(cwd);
    const { newAddress, origin } = await served(cwd);
    const { page } = await open(newAddress());
    await page.goto(`${origin}/p/half-done/`);
    await page.context().setOffline(true);
    writeFileSync(join(cwd, "researches/half-done/PAUSE"), "");
    await page.waitForTimeout(1000);
    await page.context().setOffline(false);
    await expect.poll(() => text(page, "#now")).toContain("Paused");
    expect(await page.locator("#said").isVisible()).toBe(false);
    await page.context().close();
  });

  it("does without JavaScript what its buttons say", async () => {
    const cwd = freshFolder();
    writeProjects(cwd);
    const { newAddress, origin } = await served(cwd);
    const { page } = await open(newAddress(), { javaScriptEnabled: false });
    await page.goto(`${origin}/p/half-done/`);
    await page.getByRole("button", { name: "Stop" }).click();
    expect(await text(page, "#now")).toContain("Stopped");
    expect(existsSync(join(cwd, "researches/half-done/STOP"))).toBe(true);
    await page.getByRole("button", { name: "Resume" }).click();
    expect(existsSync(join(cwd, "researches/half-done/STOP"))).toBe(false);
    await page.context().close();
  });
});
