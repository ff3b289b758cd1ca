import { readdirSync, readFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { longRepeats } from "../support/documents/long-repeats.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** Where the normaliser and the quote finder lie. */
const folder = fileURLToPath(new URL("../../src/text/evidence/", import.meta.url));

/** All kinds in the long run of the property tests, one in twenty in `npm test`. */
const isLongRun = Number(process.env["RR_FUZZ_CASES"] ?? 1500) >= 1000;
const kinds = longRepeats.filter((_, index) => isLongRun || index % 20 === 0);

const session = new Session();
let find: (text: string, quote: string) => unknown;

/** The blocks of the quote finder that were run since the last call, each time that one was. */
async function steps(): Promise<number> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  return result
    .filter(({ url }) => url.includes("/src/text/evidence/"))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
    .reduce((sum, { count }) => sum + count, 0);
}

async function workOf(text: string, quote: string): Promise<number> {
  await steps();
  find(text, quote);
  return await steps();
}

beforeAll(async () => {
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  // Imported only now: what was compiled before is not counted.
  ({ findQuote: find } = await import("../../src/text/evidence/find-quote.js"));
});
afterAll(async () => {
  await session.post("Profiler.stopPreciseCoverage");
  session.disconnect();
});

/** Whole units, so that what is twice as long ends alike. */
const repeated = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length));
const size = 800;
const sentence = "The gripper held nine of the wet spheres in 4.9 s.";

describe("the work of finding a quote, counted in steps", () => {
  it("is counted at all", async () => {
    expect(await workOf(repeated("word ", size), sentence)).toBeGreaterThan(size);
  });

  it(`grows no faster than text and quote, for ${kinds.length} kinds of long repeats`, async () => {
    expect(kinds.length).toBeGreaterThanOrEqual(isLongRun ? 300 : 15);
    const tooFast: string[] = [];
    for (const unit of kinds)
      for (const [name, of] of [
        [
          "in the text",
          (length: number) => [`${sentence} ${repeated(unit, length)}`, sentence.replace("nine", "eight")],
        ],
        ["in the quote", (length: number) => [sentence, `${sentence} ${repeated(unit, length)}`]],
        ["in both", (length: number) => [repeated(unit, 2 * length), `The gripper ${repeated(unit, length)} held`]],
        ["in both alike", (length: number) => [`It ${repeated(unit, 2 * length)}`, repeated(unit, length)]],
      ] as const) {
        const [once, twice] = [of(size), of(2 * size)] as [[string, string], [string, string]];
        const [work, doubled] = [await workOf(...once), await workOf(...twice)];
        if (doubled > 2.5 * work + 20_000)
          tooFast.push(`${JSON.stringify(unit)} ${name}: ${work} steps, then ${doubled}`);
      }
    expect(tooFast).toEqual([]);
  }, 900_000);

  it("is some hundred steps a character at most, for 300,000 combining strokes", async () => {
    const strokes = "\u0338".repeat(300_000);
    expect(await workOf(`It was so. ${strokes}`, "the gripper held nine of them")).toBeLessThan(100 * strokes.length);
  }, 120_000);
});

/**
 * The regular expressions that a file writes down, without their delimiters; of a template those parts that stand in
 * the file.
 */
function patternsOf(path: string): string[] {
  const patterns: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) patterns.push(node.text.slice(1, node.text.lastIndexOf("/")));
    if (ts.isNewExpression(node) && node.expression.getText() === "RegExp")
      patterns.push(node.arguments?.[0]?.getText() ?? "");
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true));
  return patterns;
}

describe("the regular expressions of the quote finder, whose steps nobody counts", () => {
  it("repeat nothing without a bound, but for one run that is the whole pattern", () => {
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    const all = files.flatMap((name) => patternsOf(join(folder, name)).map((pattern) => ({ name, pattern })));
    expect(all.length).toBeGreaterThan(50);
    const unbounded = all.filter(({ pattern }) => {
      const bare = pattern.replace(/\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\./g, "x").replace(/\[[^\]]*\]/g, "x");
      return /[*+]|\{\d+,\}/.test(bare) && !/^x[*+]$/.test(bare);
    });
    expect(unbounded).toEqual([]);
  });
});
