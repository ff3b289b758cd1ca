// The two pictures of the README, made by a question to the sample papers: a run in a terminal (docs/pictures/run.svg) and the
// first screen of its report (docs/pictures/report.png). Needs `npm run build`, the program `script` and a Chromium.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pictures = join(root, "docs/pictures");
/** Columns of the terminal, and the size of a cell in pixels. */
const columns = 84;
const cell = { width: 7.8, height: 17, margin: 14 };
const question = "How well does sim2real transfer serve dexterous manipulation?";
/** What the picture shows is on the screen when this stands there. */
const moment = " 3 of 11";

const colours = {
  1: "font-weight:bold",
  2: "opacity:.65",
  31: "fill:#f28b82",
  32: "fill:#81c995",
  33: "fill:#fdd663",
  36: "fill:#78d9ec",
};
const ends = { 22: [1, 2], 39: [31, 32, 33, 36], 0: [1, 2, 31, 32, 33, 36] };

/** The lines of a terminal at that moment, each as pieces of text with their styles. */
function screenOf(printed) {
  const lines = [[]];
  let row = 0;
  let styles = new Set();
  for (const [, up, style, code, text] of printed.matchAll(/\x1b\[(?:(\d+)A|([\d;]*)m|\?25l|([KJ]))|([^\x1b]+)/g)) {
    if (up !== undefined) {
      row = Math.max(0, row - Number(up));
      lines[row] = [];
    } else if (style !== undefined)
      for (const each of style.split(";").map(Number)) {
        if (each in ends) styles = new Set([...styles].filter((on) => !ends[each].includes(on)));
        else styles.add(each);
      }
    else if (code === "J") {
      lines.length = row + 1;
      lines[row] = [];
      if (lines.some((line) => line.some((piece) => piece.text.includes(moment)))) return lines;
    } else if (text !== undefined)
      for (const [index, part] of text.replaceAll("\r", "").split("\n").entries()) {
        if (index > 0) lines[(row += 1)] = [];
        if (part !== "") (lines[row] ??= []).push({ text: part, styles: [...styles] });
      }
  }
  throw new Error(`The run never showed '${moment}'.`);
}

/** Blanks in a row are one in a picture, unless they may not break. */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("  ", "\u00a0\u00a0");

/** Those lines as a picture: text that can be searched and read aloud. */
function svgOf(lines) {
  const width = Math.ceil(columns * cell.width + 2 * cell.margin);
  const height = lines.length * cell.height + 2 * cell.margin;
  const rows = lines.map((pieces, index) => {
    const spans = pieces.map(
      ({ text, styles }) =>
        `<tspan style="${styles.map((style) => colours[style]).join(";")}">${escaped(text)}</tspan>`,
    );
    return `<text x="${cell.margin}" y="${cell.margin + 13 + index * cell.height}">${spans.join("")}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img"><title>A run of research-ralph in a terminal</title>
<rect width="100%" height="100%" rx="8" fill="#202124"/>
<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="13" fill="#e8eaed">
${rows.join("\n")}
</g></svg>
`;
}

const folder = mkdtempSync(join(tmpdir(), "research-ralph-pictures-"));
try {
  const asked = `"${question}" --source samples -p 11 --agent baseline --no-git --yes`;
  const line = `stty cols ${columns} rows 40; ${process.execPath} ${join(root, "dist/cli.js")} ${asked}`;
  execFileSync("script", ["--quiet", "--command", line, "printed"], { cwd: folder, stdio: "ignore" });
  const printed = readFileSync(join(folder, "printed"), "utf8");
  const lines = screenOf(printed.slice(printed.indexOf("\n") + 1));
  while (lines.at(-1)?.length === 0) lines.pop();
  const begin = lines.findIndex((pieces) => pieces.some(({ text }) => text.includes("#1 ")));
  writeFileSync(join(pictures, "run.svg"), svgOf(lines.slice(Math.max(0, begin))));

  const [name] = readdirSync(join(folder, "researches"));
  const browser = await chromium.launch({
    executablePath: process.env.CHROME_PATH ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  const page = await browser.newPage({ viewport: { width: 860, height: 780 } });
  await page.goto(pathToFileURL(join(folder, "researches", name, "report.html")).href);
  await page.screenshot({ path: join(pictures, "report.png") });
  await browser.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
