import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import fastGlob from "fast-glob";
import { describe, expect, test } from "vitest";
import { summaries } from "../../src/commands/help-text.js";
import { tools } from "../../src/research/tools/all-tools.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = fastGlob.sync(["*.md", "{docs,skills}/**/*.md", "tests/**/README.md"], { cwd: root });
const read = (page: string) => readFileSync(join(root, page), "utf8");
/**
 * The anchors of a page: those that it sets, and those that GitHub makes from its headings, in lower case, without
 * punctuation, blanks as hyphens.
 */
const anchorsOf = (page: string): string[] => {
  const text = read(page).replace(/^```[\s\S]*?^```/gm, "");
  const headings = matches(text, /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(/\s/g, "-"),
  );
  return [...headings, ...matches(text, /<a id="([^"]+)"><\/a>/g)];
};
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1] ?? "");

describe.each(pages)("%s", (page) => {
  test("links to nothing that is not there", () => {
    const local = matches(read(page), /\]\(([^)\s]+)\)/g).filter((link) => !/^(https?:|#)/.test(link));

    expect(local.filter((link) => !existsSync(join(root, dirname(page), link.split("#")[0] ?? "")))).toEqual([]);
  });

  test("links to headings that are there", () => {
    const links = matches(read(page), /\]\(((?:[^)\s#]+\.md)?#[^)\s]+)\)/g).filter((link) => !link.startsWith("http"));
    const missing = links.filter((link) => {
      const [file = "", anchor = ""] = link.split("#");
      return !anchorsOf(file === "" ? page : join(dirname(page), file)).includes(anchor);
    });

    expect(missing).toEqual([]);
  });

  test("names only sources that are there", () => {
    const sources = matches(read(page), /`(src\/[\w./-]+\.ts)`/g);

    expect(sources.filter((source) => !existsSync(join(root, source)))).toEqual([]);
  });

  test("names only npm scripts that exist", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };

    expect(matches(read(page), /npm run ([\w:]+)/g).filter((name) => !(name in scripts))).toEqual([]);
  });

  test("names only commands that exist", () => {
    const named = matches(read(page), /(?:`|npx )research-ralph ([a-z]+)/g);

    expect(named.filter((name) => name !== "help" && !(name in summaries))).toEqual([]);
  });
});

test("a page that sources, schemas, scripts and tests name is there, with its heading", () => {
  const files = fastGlob.sync("{src,schemas,scripts,tests,bench,bin}/**/*.{ts,mjs,json,sh}", { cwd: root });
  const named = files.flatMap((file) => matches(read(file), /(?<![\w/])(docs\/[\w/-]+\.md(?:#[\w-]+)?)/g));
  const missing = named.filter((link) => {
    const [page = "", anchor] = link.split("#");
    return !pages.includes(page) || (anchor !== undefined && !anchorsOf(page).includes(anchor));
  });

  expect(named.length).toBeGreaterThan(10);
  expect(missing).toEqual([]);
});

test("no page has a placeholder such as <name> outside of code, where a browser drops it", () => {
  const tags = /<(?!\/?(?:img|a|p|br|sub|sup|details|summary|picture|source|div)\b|!--)[a-zA-Z][^>\n]*>/g;
  const proseOf = (page: string) => read(page).replaceAll(/```[^]*?```|`[^`]*`|<!--[^]*?-->/g, "");
  const dropped = pages
    .filter((page) => page !== "prompt.md")
    .flatMap((page) => [...proseOf(page).matchAll(tags)].map(([tag]) => `${page}: ${tag}`));

  expect(dropped).toEqual([]);
});

test("the map of the house names every wing and every folder of engine and research, and no other", () => {
  const map = read("CONTRIBUTING.md").split("## How the house is laid out")[1]?.split("\n## ")[0] ?? "";
  const named = matches(map, /^\| (`[^|]+) \|/gm).flatMap((cell) => {
    const [first = "", ...more] = matches(cell, /`([^`]+)`/g);
    return [first, ...more.map((name) => join(dirname(first), name))];
  });
  const there = fastGlob
    .sync(["*", "{engine,text,research}/*"], { cwd: join(root, "src"), onlyFiles: false, markDirectories: true })
    .filter((path) => !path.endsWith("generated/") && !/^\w+\/\w+\.ts$/.test(path));

  expect(there.length).toBeGreaterThan(25);
  expect(named.toSorted()).toEqual(there.toSorted());
});

test("every decision is listed, takes about half a page, and its file is named by a few words alone", () => {
  const listed = read("docs/decisions/README.md");
  const decisions = fastGlob.sync("*.md", { cwd: join(root, "docs/decisions"), ignore: ["README.md"] });
  expect(decisions.filter((name) => !/^[a-z][a-z\d]*(-[a-z\d]+)*\.md$/.test(name) || /\d{4}/.test(name))).toEqual([]);
  expect(decisions.filter((name) => read(`docs/decisions/${name}`).split(/\s+/).length > 400)).toEqual([]);
  expect(decisions.filter((name) => !listed.includes(`](${name})`))).toEqual([]);
  expect(decisions.length).toBeGreaterThan(20);
});

test("CI runs the two commands of the README", () => {
  const ci = read(".ci/run");

  expect(read("README.md")).toContain("npm ci && npm run demo");
  for (const command of ["npm ci", "npm run demo", "npm test", "npm run check", "npm run test:e2e"])
    expect(ci).toContain(command);
});

test("every tool has a row where tools are listed, and stands among those of the assistant", () => {
  const names = tools.map(({ name }) => name);
  const [scripting, assistant] = [read("docs/scripting.md"), read("docs/assistant.md")];
  expect(names.filter((name) => !scripting.includes(`\n| \`${name}\` | `))).toEqual([]);
  expect(names.filter((name) => !assistant.includes(`\`${name}\``))).toEqual([]);
});
