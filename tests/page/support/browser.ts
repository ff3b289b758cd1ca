import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";

/** Where a Chromium is: CHROME_PATH, or where packages put it; undefined where there is none. */
export const chromePath: string | undefined = [
  process.env.CHROME_PATH ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
].find((path) => path !== "" && existsSync(path));

if (chromePath === undefined)
  console.warn("No Chromium: the tests of the page are skipped. 'apt-get install chromium', or set CHROME_PATH.");

/** The browser. As root it has no sandbox of its own; it opens only what the tests wrote. */
export const launch = (): Promise<Browser> =>
  chromium.launch({
    ...(chromePath === undefined ? {} : { executablePath: chromePath }),
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });

/** Screenshots are kept for people to look at; git ignores the folder. */
export const picturesFolder = fileURLToPath(new URL("../../../.build/page/", import.meta.url));
mkdirSync(picturesFolder, { recursive: true });

export const pictureOf = (name: string): string => join(picturesFolder, `${name}.png`);

/** What a browser complained of since the page was opened. */
export function complaintsOf(page: Page): string[] {
  const all: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) all.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => all.push(String(error)));
  page.on("requestfailed", (request) => all.push(`not loaded: ${request.url().slice(0, 200)}`));
  return all;
}
