import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { escapeHtml } from "../../src/engine/lib/markup.js";
import { namesOf, quoteAt } from "../../src/research/report/quotes.js";
import { paper } from "../support/projects/research.js";
import { chromePath, launch } from "./support/browser.js";
import { deadlines } from "../support/runner/deadlines.js";

const filler = "<p>The first words of nothing in particular, again and again.</p>".repeat(120);

/** Each quote, and how the page that it was taken from writes it, where that differs. */
const quotes: readonly (readonly [quote: string, onPage?: string, asHtml?: string])[] = [
  ["Success rose, in all cases, from 41 % to 87 % (n = 240)."],
  ["State-of-the-art, sim-to-real transfer & calibration: a 50% gain"],
  ["short words, here"],
  ["A & B"],
  ["well-known"],
  ['C++ #1 = 100% "quoted" text'],
  [`It is long: ${"one word and another, ".repeat(20)}and then it ends.`],
  ["What was left out [...] stands here in the end.", "What was left out of the quote stands here in the end."],
  [
    "calibrated on the spot | 87 % | 0.3 s",
    "",
    "<table id=q><tr><td>tuned by hand</td><td>75 %</td><td>2 days</td></tr><tr><td>calibrated on the spot</td><td>87 %</td><td>0.3 s</td></tr></table>",
  ],
  ["ارتفع معدل النجاح من 41 إلى 87 بالمئة في جميع التجارب الفيزيائية"],
];

describe.skipIf(chromePath === undefined)("the link of a quote to a web page, in Chromium", () => {
  let browser: Browser;
  let server: Server;
  let onPage = "";

  beforeAll(async () => {
    server = createServer((_, response) => {
      response.setHeader("Content-Type", "text/html; charset=utf-8");
      response.end(`<!doctype html><title>A paper</title>${filler}${onPage}${filler}`);
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    server.close();
  });

  it.each(quotes)("opens the page at %s", async (quote = "", written = quote, asHtml = undefined) => {
    onPage = asHtml ?? `<p id="q">Before it. ${escapeHtml(written)} After it.</p>`;
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/paper`;
    const from = paper("p", { url: address, pdf_url: null });
    const name = namesOf([from]).get("p") ?? expect.unreachable();
    const { address: opens = "" } = quoteAt(from, name, { claim: quote, quote, status: "verified" }, 1) ?? {};
    const context = await browser.newContext();
    context.setDefaultTimeout(deadlines.expect.poll.timeout);
    const page = await context.newPage();
    // A browser follows such a link only where a person selects it.
    await page.setContent(`<a id="link" target="_blank" rel="noopener" href="${escapeHtml(opens)}">there</a>`);
    const [opened] = await Promise.all([context.waitForEvent("page"), page.click("#link")]);
    await opened.waitForLoadState();
    await expect.poll(() => opened.evaluate(isSeen)).toBe(true);
    await context.close();
  });
});

/** Runs in the page, as text: whether the browser went down to the quote. */
const isSeen = `(() => {
  const { top } = document.getElementById("q").getBoundingClientRect();
  return scrollY > 0 && top >= 0 && top < innerHeight;
})()`;
