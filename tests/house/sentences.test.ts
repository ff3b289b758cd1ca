import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fastGlob from "fast-glob";
import { expect, test } from "vitest";
import { summaries } from "../../src/commands/help-text.js";
import { packageFile } from "../../src/engine/lib/package-root.js";
import { cli } from "../support/processes/in-process.js";
import { freshFolder, makeResearch, paper } from "../support/projects/research-folder.js";

// The one place that reads sentences for how they are written; every other test asks for kinds and facts.

/** Words of a dialect that a reader would stumble over. */
const dialect =
  /\b(?:heed\w*|is none to|of ours|for ever|whoever|a research(?! (?:project|question|folder))|lest|anew)\b/;
const longest = 400;

/** What is wrong with how an error is told; empty where it is one sentence that a person can read. */
function faultsOf(said: string): string[] {
  const text = said.replace(/^research-ralph: /, "").trimEnd();
  return [
    ...(said.startsWith("research-ralph: ") ? [] : ["does not say who speaks"]),
    ...(text.includes("\n") ? ["is more than one line"] : []),
    ...(/[.?]$/.test(text) ? [] : ["does not end"]),
    ...(/^ {4}at |\bError:|\[object |undefined|NaN/m.test(said) ? ["shows the inside of the program"] : []),
    ...(text.length > longest ? [`is longer than ${longest} characters`] : []),
    ...(dialect.test(text) ? [`says '${dialect.exec(text)?.[0]}'`] : []),
  ];
}

test("the faults of sentences are found", () => {
  expect(faultsOf("research-ralph: There is no paper p9; the nearest is p1.\n")).toEqual([]);
  expect(faultsOf("TypeError: x\n    at f (a.js:1)")).toHaveLength(4);
  expect(faultsOf(`research-ralph: A hand that heeds ${"x".repeat(longest)}.`)).toHaveLength(2);
});

const broken = "broken-2026-03-01";
test.each([
  [["run"]],
  [["run", "--agent", "cladue"]],
  [["run", "walking"]],
  [["run", broken]],
  [["run", "-p", "many"]],
  [["run", "--classic", "hands-2026-03-01"]],
  [["run", "hands-2026-03-01", "--agent", "cmd:true", "--sandbox", "host"]],
  [["run", "hands-2026-03-01", "-p", "9"]],
  [["new", " "]],
  [["read", "hello world"]],
  [["read", "missing.pdf"]],
  [["search", ""]],
  [["search", "hands", "--source", "nowhere"]],
  [["status", "walking"]],
  [["status", broken]],
  [["reset", "hands-2026-03-01", "--paper", "p9"]],
  [["reset", "hands-2026-03-01", "--to", "9"]],
  [["replay", "hands-2026-03-01"]],
  [["patterns", "hands-2026-03-01", "--accept", "3"]],
  [["config", "papers=x"]],
  [["config", "pappers"]],

  [["tool", "outlines"]],
  [["mcp", "--tools", "outlines"]],
  [["lsit"]],
  [["list", "too", "many"]],
])("%j ends with one sentence that a person can read", async (args) => {
  const cwd = freshFolder();
  makeResearch(cwd, "hands-2026-03-01", { papers_pool: [paper("p1", "pending")] });
  makeResearch(cwd, "arms-2026-03-01", { papers_pool: [paper("p1", "pending")] });
  makeResearch(cwd, broken);
  writeFileSync(join(cwd, "researches", broken, "rrd.json"), '{"project": }');
  const { code, err } = await cli(args, cwd);
  expect({ failed: code !== 0, err, faults: faultsOf(err) }).toEqual({ failed: true, err, faults: [] });
});

test.each([["help"], ...Object.keys(summaries).map((name) => [name])])(
  "the help of '%s' speaks plainly",
  async (...command) => {
    const { code, out } = await cli(command[0] === "help" ? ["--help"] : [...command, "--help"], freshFolder());
    expect({ code, dialect: dialect.exec(out)?.[0] }).toEqual({ code: 0, dialect: undefined });
    expect(out).toContain("Usage: research-ralph");
  },
);

test("no sentence of the code denies with 'is no', inverts, or speaks in our dialect", async () => {
  const banned =
    /(?<!there )\b(?:is|are|was|were) no (?!longer\b|more\b)[a-z]|which nothing confines|\byour yes\b|\b(?:is|are) as before\b/i;
  const sources = await fastGlob(["src/**/*.ts"], { cwd: packageFile(".") });
  const lines = sources.flatMap((file) =>
    readFileSync(packageFile(file), "utf8")
      .split("\n")
      // Code between quotes has words too, but none of these.
      .filter((line) => /["'`]/.test(line) && !/^\s*(?:\/\/|\/?\*)/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(lines.length).toBeGreaterThan(5_000);
  expect(lines.filter((line) => banned.test(line))).toEqual([]);
});

test("pages and comments have none of these words either", async () => {
  const rare =
    /\b(?:heed\w*|whoever|of ours|for ever|lest|(?:is|are) none|amiss|ought to|whereby|therein|made up for)\b|(?<!there )\b(?:is|are|was|were) no (?!longer\b|more\b)[a-z]/i;
  const cwd = packageFile(".");
  const pages = await fastGlob(["*.md", "docs/**/*.md", "demo/*.md"], { cwd });
  const sources = await fastGlob(["src/**/*.ts", "bench/**/*.mjs", "scripts/**/*.mjs", "bin/*.mjs"], { cwd });
  const linesOf = (file: string) =>
    readFileSync(packageFile(file), "utf8")
      .split("\n")
      .map((text, index) => ({ text, where: `${file}:${index + 1}` }));
  const isComment = ({ text }: { text: string }) => /^\s*(?:\/\/|\/?\*)|\s\/\/ /.test(text);
  const read = [...pages.flatMap(linesOf), ...sources.flatMap((file) => linesOf(file).filter(isComment))];

  expect(read.length).toBeGreaterThan(5_000);
  expect(read.filter(({ text }) => rare.test(text)).map(({ where, text }) => `${where} ${text.trim()}`)).toEqual([]);
});
