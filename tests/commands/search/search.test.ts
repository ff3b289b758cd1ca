import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { searchCommand, type SearchArguments } from "../../../src/commands/search/search.js";
import { type Page, serve } from "../../fixtures/web-server.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { atom, hand, scholarly, works } from "../../support/network/scholarly.js";

async function search(pages: readonly [Page, Page], over: Partial<SearchArguments> = {}) {
  const place = await scholarly(...pages);
  const io = fakeIo({ cwd: place.cwd, env: place.env });
  const exitCode = await searchCommand(
    { query: "shape of tools", limit: 20, output: "text", explain: false, ...over },
    io,
  );
  return { exitCode, out: io.out(), err: io.err(), place };
}

test("a search asks the sources and shows one entry a work, with everyone who knows it", async () => {
  const { exitCode, out, err } = await search([atom, works]);
  expect(exitCode).toBe(0);
  expect(out).toContain(`1. ${hand.title}\n`);
  expect(out).toMatch(/Ann Lee · 2024-0\d-\d\d · .*(?:arXiv \+ Crossref|Crossref \+ arXiv)\n/);
  expect(out.match(/^\d+\./gm)).toEqual(["1.", "2."]);
  expect(err).toContain("arXiv: 1 work\n");
  expect(err).toContain("Crossref: 2 works\n");
  expect(err).toContain("OpenAlex was not asked: OpenAlex is turned off");
});

test("--source asks no other, --from and --until are whole days, --limit cuts, and --json and --bibtex print just that", async () => {
  const { out, place } = await search([atom, works], {
    source: "crossref",
    from: "2023",
    until: "2024-02",
    limit: 1,
    output: "json",
  });
  expect(place.arxiv.requests).toEqual([]);
  expect(decodeURIComponent(place.crossref.requests[0]?.path ?? "")).toMatch(/2023-01-01.*2024-02-29/);
  const printed = JSON.parse(out) as { sources: unknown; results: { title: string; sources: string[] }[] };
  expect(printed).toMatchObject({
    query: "shape of tools",
    sources: [{ source: "Crossref", status: "ok", results: expect.any(Number) }],
  });
  expect(printed.results.map(({ title, sources }) => [title, sources])).toEqual([[hand.title, ["Crossref"]]]);
  const bibtex = await search([atom, works], { source: "arxiv", output: "bibtex" });
  expect(bibtex.out).toMatch(/^@misc\{\w+,\n {2}title = \{\{A hand that feels/);
});

test("--explain says what the order rests on and why records are one paper", async () => {
  const plain = await search([atom, works]);
  expect(plain.out).not.toContain("merged with");
  const { out } = await search([atom, works], { explain: true });
  expect(out).toMatch(/^ +priority \d: matches /m);
  expect(out).toMatch(/^ +merged with \S+ of (?:Crossref|arXiv): /m);
  const json = await search([atom, works], { output: "json" });
  const { results } = JSON.parse(json.out) as { results: { merged: { id: string; why: string }[]; apart: object[] }[] };
  expect(results.flatMap(({ merged }) => merged).every(({ why }) => why !== "")).toBe(true);
});

test("a source that fails is named while others answer; where all fail nobody can say that there is nothing: exit code 5", async () => {
  const some = await search([{ status: 403 }, works]);
  expect(some.exitCode).toBe(0);
  expect(some.err).toMatch(/^arXiv failed: .*403/m);
  const none = await search([{ status: 403 }, { status: 429, headers: { "retry-after": "90" } }]);
  expect(none.exitCode).toBe(5);
  expect(none.out).toBe("");
  expect(none.err).toMatch(/^arXiv failed: /m);
  expect(none.err).toMatch(/^Crossref failed: (?!Crossref: ).*429/m);
});

test("Google Scholar is replaced by what programs may ask, and the person is told", async () => {
  const { err, exitCode } = await search([atom, works], { source: "Google Scholar" });
  expect(err).toContain("forbids scraping; OpenAlex and Semantic Scholar are searched instead.");
  // Both are turned off here.
  expect(exitCode).toBe(5);
});

test.each([
  [{ source: "arxvi" }, /There is no source 'arxvi'; the nearest one is 'arXiv'/],
  [{ from: "2024-13" }, /--from is '2024-13'; it must be a date/],
  [{ until: "2023-02-30" }, /--until is '2023-02-30'/],
  [{ from: "2025", until: "2024" }, /--from \(2025-01-01\) is after --until/],
  [{ limit: 0 }, /--limit must be 1 to 200/],
  [{ query: " " }, /Say what to search for/],
])("%j is refused as wrong usage", async (over, sentence) => {
  await expect(search([atom, works], over)).rejects.toThrow(sentence);
});

test("the same search within a day makes no request", async () => {
  const { place } = await search([atom, works]);
  const io = fakeIo({ cwd: place.cwd, env: place.env });
  await searchCommand({ query: "shape of tools", limit: 20, output: "text", explain: false }, io);
  expect(place.arxiv.requests).toHaveLength(1);
  expect(place.crossref.requests).toHaveLength(1);
});

test("a key is sent to its service and is found in nothing that a search prints or leaves behind", async () => {
  const key = "planted-openalex-key-42";
  const place = await scholarly(atom, works);
  const echo = await serve({
    "/works": { status: 403, headers: { "content-type": "application/json" }, body: `{"error":"bad key ${key}"}` },
  });
  onTestFinished(() => echo.close());
  const config = join(place.cwd, "ralph.config.yaml");
  const settings = `openalex: { endpoint: "${echo.origin}", interval_ms: 0, key_variable: MY_KEY }`;
  writeFileSync(config, readFileSync(config, "utf8").replace("openalex: { off: true }", settings));
  const io = fakeIo({ cwd: place.cwd, env: { ...place.env, MY_KEY: `${key}\n` } });
  await searchCommand({ query: "shape of tools", limit: 20, output: "json", explain: false }, io);
  expect(echo.requests[0]?.path).toContain(`api_key=${key}`);
  const files = readdirSync(place.cwd, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(5);
  const left = files.map(({ parentPath, name }) => name + readFileSync(join(parentPath, name), "latin1"));
  expect([io.out(), io.err(), ...left].filter((text) => text.includes(key))).toEqual([]);
});

test("a source that the configuration misspells is an error, as nobody would be asked under that name", async () => {
  const place = await scholarly(atom, works);
  const config = join(place.cwd, "ralph.config.yaml");
  writeFileSync(config, readFileSync(config, "utf8").replace("  arxiv:", "  arxvi:"));
  const io = fakeIo({ cwd: place.cwd, env: place.env });
  const search = searchCommand({ query: "shape of tools", limit: 20, output: "text", explain: false }, io);
  await expect(search).rejects.toThrow("Unknown source 'arxvi' in sources.arxvi; the nearest one is 'arxiv'.");
});
