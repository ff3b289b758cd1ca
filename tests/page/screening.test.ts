import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Rrd } from "../../src/research/generated/rrd.js";
import { deadlines } from "../support/runner/deadlines.js";
import { freshFolder, makeResearch } from "../support/projects/research-folder.js";
import { screeningProject } from "../fixtures/screening-project.js";
import { served } from "../web/served.js";
import { chromePath, complaintsOf, launch, pictureOf } from "./support/browser.js";
import { looksOf } from "./support/looks.js";

const name = "hands-2026-03-01";
const nothingWrong = { wide: [], tallButtons: [], labels: [], pale: [], unreachable: [] };
const manners = [390, 1200].flatMap((width) =>
  (["light", "dark"] as const).flatMap((scheme) => [true, false].map((script) => ({ width, scheme, script }))),
);

describe.skipIf(chromePath === undefined)("the screening page in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
  });

  async function open(how: BrowserContextOptions = {}) {
    const cwd = freshFolder();
    const folder = makeResearch(cwd, name, screeningProject);
    const { newAddress, origin } = await served(cwd);
    const context = await browser.newContext({
      viewport: { width: 1200, height: 900 },
      reducedMotion: "reduce",
      ...how,
    });
    context.setDefaultTimeout(deadlines.expect.poll.timeout);
    const page = await context.newPage();
    const complaints = complaintsOf(page);
    await page.goto(newAddress());
    const rrd = () => JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
    const of = (id: string) => rrd().papers_pool.find((each) => each.id === id);
    return {
      page,
      origin,
      complaints,
      of,
      rrd,
      close: () => context.close().then(() => rmSync(cwd, { recursive: true })),
    };
  }
  const heading = (page: Page) => page.locator("#record h1").textContent();
  const kicker = (page: Page) => page.locator("#record .kicker").textContent();

  it.each(manners)("looks right at $width px, $scheme, JavaScript: $script", async ({ width, scheme, script }) => {
    const how = { viewport: { width, height: 900 }, colorScheme: scheme, javaScriptEnabled: script };
    const { page, origin, complaints, close } = await open(how);
    const kind = `${width}-${scheme}${script ? "" : "-no-script"}`;
    for (const [what, path] of [
      ["record", "screen"],
      ["conflict", "screen?which=conflicts"],
      ["hostile", "screen?which=all&at=hostile"],
      ["end", "screen?which=all&at="],
      ["differences", "settle"],
      ["project", ""],
    ] as const) {
      await page.goto(`${origin}/p/${name}/${path}`);
      await page.screenshot({ path: pictureOf(`screening-${what}-${kind}`) });
      const { counted, ...looks } = await looksOf(page);
      expect([what, looks]).toEqual([what, nothingWrong]);
      expect(counted.controls).toBeGreaterThan(2);
    }
    await page.goto(`${origin}/p/${name}/screen`);
    await page.locator("#exclude > summary").click();
    await page.screenshot({ path: pictureOf(`screening-exclude-${kind}`) });
    const { counted: _, ...looks } = await looksOf(page);
    expect(looks).toEqual(nothingWrong);
    expect(complaints.filter((one) => !one.endsWith("/events"))).toEqual([]);
    expect(await page.evaluate("window.broken")).toBeUndefined();
    await close();
  });

  it("takes a key for each act, shows the next record, and undo takes the last decision back", async () => {
    const { page, origin, complaints, of, close } = await open();
    await page.goto(`${origin}/p/${name}/screen`);
    const first = await heading(page);
    const before = of("p1");
    const press = async (key: string) => {
      // A page whose script has not run yet takes no key.
      await page.waitForLoadState("load");
      await page.keyboard.press(key);
      await page.waitForLoadState("load");
    };
    await press("i");
    await expect.poll(() => of("p1")?.override?.decision).toBe("include");
    await expect.poll(() => kicker(page)).toContain("1 decided");
    expect(await page.locator("[role=status].told").textContent()).toContain("is included");
    // The head of the record has the focus, so that a screen reader begins there.
    expect(await page.evaluate("document.activeElement.tagName")).toBe("H1");
    await press("x");
    // Nobody has chosen a criterion yet, so Enter presses none, and a number without a criterion is refused.
    await press("9");
    expect(await page.locator("#no-criterion").textContent()).toBe(
      "That number names no criterion; type a number from 1 to 3, or 0 for another reason.",
    );
    await press("Enter");
    await page.waitForTimeout(200);
    expect(of("p2")?.override).toBeUndefined();
    await press("0");
    await page.keyboard.type("9");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("[role=status].told").textContent()).toContain("9 names no criterion");
    expect(of("p2")?.override).toBeUndefined();
    await press("x");
    await press("2");
    await expect.poll(() => kicker(page)).toContain("2 decided");
    expect(of("p2")?.override).toMatchObject({ decision: "exclude", criterion: "c2" });
    await press("u");
    await expect.poll(() => kicker(page)).toContain("1 decided");
    expect(of("p2")?.override).toBeUndefined();
    await press("b");
    await expect.poll(() => heading(page)).toBe(first);
    await press("u");
    await expect.poll(() => kicker(page)).toContain("0 decided");
    expect(of("p1")).toEqual({ ...before, key: of("p1")?.key });
    // What is typed into a field presses no button.
    await press("n");
    await page.keyboard.type("mix i x");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator(".note", { hasText: "Your note" }).textContent()).toContain("mix i x");
    expect(of("p1")?.override).toBeUndefined();
    await page.getByRole("button", { name: "Keys" }).click();
    await page.keyboard.press("i");
    await page.waitForTimeout(200);
    expect(of("p1")?.override).toBeUndefined();
    expect(complaints.filter((one) => !one.endsWith("/events"))).toEqual([]);
    await close();
  });

  it("does everything without JavaScript and without a mouse", async () => {
    const { page, origin, of, close } = await open({ javaScriptEnabled: false });
    await page.goto(`${origin}/p/${name}/screen?which=conflicts`);
    await page.locator("#exclude > summary").focus();
    await page.keyboard.press("Enter");
    await page.locator("#why").focus();
    await page.keyboard.type("no hands in it");
    await page.keyboard.press("Enter");
    await expect.poll(() => of("p1")?.override).toMatchObject({ decision: "exclude", why: "no hands in it" });
    expect(await heading(page)).toBe("That was the last record; 1 decided.");
    await page.getByRole("button", { name: "Back" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => kicker(page)).toContain("you said exclude");
    await close();
  });

  it("goes on where the person left off", async () => {
    const { page, origin, close } = await open();
    await page.goto(`${origin}/p/${name}/screen`);
    await page.getByRole("button", { name: "Skip" }).click();
    await expect.poll(() => kicker(page)).toContain("2 of 3");
    await page.goto(`${origin}/p/${name}/`);
    await page.getByRole("link", { name: /Decide on 3 records/ }).click();
    await expect.poll(() => kicker(page)).toContain("2 of 3");
    await close();
  });
});
