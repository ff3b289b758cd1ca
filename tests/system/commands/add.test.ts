import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { openResearch } from "../../../src/research/project-files/research.js";
import { derive } from "../../../src/research/workflow/derive.js";
import { writeMessage } from "../../../src/engine/storage/state/steering-inbox.js";
import { serve } from "../../fixtures/web-server.js";
import { withUnitAgent } from "../../support/processes/command-agents.js";
import { main } from "../../../src/commands/main.js";
import { cli, ioIn } from "../../support/processes/in-process.js";
import { freshFolder, makeResearch, paper } from "../../support/projects/research-folder.js";

const project = "hands-2026-03-01";
const bib = `@article{kim23, title={Tools for hands}, author={Kim, Bo and Lee, Ann}, year=2023, doi={10.1000/tools},
  journal={Journal of Grips}, volume=4, number=2, pages={11--19}, abstract={We study tools.}}
@article{bad, year={2001}}
@misc{plain, title={Hands without a number}, author={Moreau, Lise}, year=2019}
`;
const ris = `TY  - JOUR
TI  - Tools for hands
AU  - Kim, Bo
PY  - 2023
DO  - 10.1000/TOOLS
ER  - 

TY  - JOUR
TI  - Fingers on glass
AU  - Okafor, Chidi
PY  - 2021
UR  - https://example.org/fingers
ER  - 
`;
/** No service is asked: these tests are about what stands in the files. */
const noServices = ["crossref", "openalex", "europepmc", "github", "semanticscholar", "unpaywall"]
  .map((name) => `  ${name}: { off: true }\n`)
  .join("");
const csl = [{ id: "c1", type: "article-journal", title: "Touch at night", PMID: "123456" }];

function place(): { cwd: string; folder: string; rrd: () => Rrd } {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, project, { papers_pool: [paper("p1", "pending", { title: "Fingers on glass" })] });
  writeFileSync(join(cwd, "ralph.config.yaml"), `sources:\n${noServices}`);
  writeFileSync(join(cwd, "mine.bib"), bib);
  writeFileSync(join(cwd, "mine.ris"), ris);
  writeFileSync(join(cwd, "mine.json"), JSON.stringify(csl));
  return { cwd, folder, rrd: () => JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd };
}

describe("add with files that list works", () => {
  test("reads a table whose columns have names of their own, as the person says what they hold", async () => {
    const { cwd, rrd } = place();
    writeFileSync(join(cwd, "mine.csv"), "Name,When\nOn the water of shrews,2020\n");
    const unnamed = await cli(["add", project, "mine.csv", "--no-git"], cwd);
    expect([unnamed.code, unnamed.err.replace(/\s+/g, " ")]).toEqual([
      2,
      expect.stringContaining("--column title=<header>"),
    ]);
    const wrong = await cli(["add", project, "mine.csv", "--column", "titel=Name", "--no-git"], cwd);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("--column titel=Name")]);
    const columns = ["--column", "title=Name", "--column", "year=When"];
    expect((await cli(["add", project, "mine.csv", ...columns, "--no-git"], cwd)).code).toBe(0);
    expect(rrd().papers_pool.at(-1)).toMatchObject({ title: "On the water of shrews", date: "2020" });
  });

  test("takes two chapters of one title in two books for two works", async () => {
    const { cwd, rrd } = place();
    const chapter = (key: string, book: string) =>
      `@incollection{${key}, title={Introduction}, author={Sample, Ann}, booktitle={${book}}, year=2005}\n`;
    writeFileSync(join(cwd, "two.bib"), chapter("a", "Book one") + chapter("b", "Book two"));
    const before = rrd().papers_pool.length;
    expect((await cli(["add", project, "two.bib", "--no-git"], cwd)).code).toBe(0);
    expect(rrd().papers_pool.length - before).toBe(2);
  });

  test("adds what the other files list where one can't be read, and names that one", async () => {
    const { cwd, rrd } = place();
    writeFileSync(join(cwd, "bad.ris"), "nothing that is a record\n");
    writeFileSync(
      join(cwd, "good.bib"),
      "@article{x, title={A good entry}, author={Sample, Ann}, doi={10.1000/inv.45}}",
    );
    const { code, out } = await cli(["add", project, "good.bib", "bad.ris", "--no-git"], cwd);
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/not found: bad\.ris: .*contains no work[\s\S]*added: x\d* A good|added: sample A good/),
    ]);
    expect(rrd().papers_pool.at(-1)).toMatchObject({ title: "A good entry" });
  });

  test("keeps what another record of a paper knows, and where it came from", async () => {
    const { cwd, rrd } = place();
    const entry = (key: string, fields: string) =>
      `@article{${key}, title={Deep learning predicts the water of shrews}, author={Sample, Ann and Example, Bob}, ${fields}}\n`;
    writeFileSync(join(cwd, "a.bib"), entry("a", "journal={bioRxiv}, year=2019, doi={10.1101/2019.01.02.123456}"));
    const published = "journal={Invented Nature}, year=2020, volume=5, pages={1--9}, doi={10.1000/inv.28}";
    writeFileSync(join(cwd, "b.bib"), entry("b", published));
    for (const file of ["a.bib", "b.bib", "b.bib"]) await cli(["add", project, file, "--no-git"], cwd);
    const papers = rrd().papers_pool.filter(({ title }) => title.includes("water of shrews"));
    expect(papers).toMatchObject([
      {
        id: "doi_10.1101_2019.01.02.123456",
        source: "a.bib",
        date: "2020",
        venue: "Invented Nature",
        volume: "5",
        pages: "1-9",
        identifiers: { doi: "10.1000/inv.28" },
        other_versions: [{ relation: "preprint", doi: "10.1101/2019.01.02.123456" }],
        found: { merged: [{ id: "doi_10.1000_inv.28", source: "b.bib", why: expect.stringMatching(/\S/) }] },
      },
    ]);
  });

  test("a file for a paper that could not be retrieved is told as its text, and the paper waits to be read", async () => {
    const cwd = freshFolder();
    const missing = paper("p1", "not_retrieved", {
      title: "On the water of shrews",
      not_retrieved: { reason: "It has no address to read it from.", cure: "", tried: "" },
    });
    const folder = makeResearch(cwd, project, { phase: "COMPLETE", papers_pool: [missing] });
    writeFileSync(join(cwd, "one.pdf"), "%PDF-1.4");
    writeFileSync(join(cwd, "a.bib"), "@article{a, title={On the water of shrews}, file={:one.pdf:PDF}}\n");
    const { out } = await cli(["add", project, "a.bib", "--no-git"], cwd);
    expect(out).toMatch(/^already there: .*; the file is its text now, and 'research-ralph run \S+' reads it$/m);
    const { papers_pool: pool } = JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
    expect(pool).toMatchObject([{ status: "pending", pdf_url: expect.stringMatching(/one\.pdf$/) }]);
    expect((await cli(["status", project], cwd)).out).not.toContain("Finished");
  });

  test("a file for a paper that was read from its abstract alone is its text, unless a person excluded it", async () => {
    const cwd = freshFolder();
    const readFromAbstract = (id: string, title: string) =>
      paper(id, "presented", { title, abstract: "Shrews drink.", read_depth: "abstract", iteration: 2 });
    const excluded = {
      ...readFromAbstract("p2", "On the fire of shrews"),
      override: { decision: "exclude" as const, why: "It has no water.", at: "2026-01-01T00:00:00Z" },
    };
    const pool = [readFromAbstract("p1", "On the water of shrews"), excluded];
    const folder = makeResearch(cwd, project, { phase: "COMPLETE", papers_pool: pool });
    writeFileSync(join(cwd, "one.pdf"), "%PDF-1.4");
    const entries = pool.map(({ id, title }) => `@article{${id}, title={${title}}, file={:one.pdf:PDF}}\n`);
    writeFileSync(join(cwd, "a.bib"), entries.join(""));
    const { out } = await cli(["add", project, "a.bib", "--no-git"], cwd);
    expect(out.match(/the file is its text now/g)).toHaveLength(1);
    const after = JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
    expect(after.papers_pool.map(({ status }) => status)).toEqual(["pending", "rejected"]);
  });

  test("brings the PDF that an entry names, for a new paper and for one that has no document yet", async () => {
    const { cwd, rrd } = place();
    for (const name of ["one.pdf", "two.pdf"]) writeFileSync(join(cwd, name), "%PDF-1.4");
    const entry = (file: string) =>
      `@article{a, title={The water of shrews}, author={Sample, Ann}, year=2020, doi={10.1000/inv.9}${file}}\n`;
    const add = async (bib: string) => {
      writeFileSync(join(cwd, "a.bib"), bib);
      await cli(["add", project, "a.bib", "--no-git"], cwd);
      return rrd().papers_pool.find(({ id }) => id === "doi_10.1000_inv.9")?.pdf_url;
    };
    expect(await add(entry(""))).toBeNull();
    expect(await add(entry(", file={gone.pdf:gone.pdf:application/pdf}"))).toBeNull();
    expect(await add(entry(", file={Full Text:one.pdf:application/pdf}"))).toMatch(/^file:.*\/one\.pdf$/);
    expect(await add(entry(", file={:two.pdf:PDF}"))).toMatch(/one\.pdf$/);
    const other = entry(", file={:two.pdf:PDF}").replace("inv.9", "inv.10").replace("water", "fire");
    await add(other);
    expect(rrd().papers_pool.at(-1)?.pdf_url).toMatch(/two\.pdf$/);
  });

  test("a paper that a person excluded is told as such, with the way to include it", async () => {
    const { cwd } = place();
    await cli(["add", project, "mine.ris", "--no-git"], cwd);
    const [first = ""] = (await cli(["add", project, "mine.ris", "--no-git"], cwd)).out.split("\n");
    const key = /^already there: (\S+) /.exec(first)?.[1] ?? "";
    expect(first).not.toContain("excluded");
    expect(await cli(["decide", project, key, "exclude", "It has no hands.", "--no-git"], cwd)).toMatchObject({
      code: 0,
    });
    expect((await cli(["add", project, "mine.ris", "--no-git"], cwd)).out).toMatch(
      /you excluded it \(It has no hands\.\), and 'research-ralph decide \S+ \S+ include "why"' includes it/,
    );
  });

  test("puts each into the pool once, as the file describes it, and names what can't be read", async () => {
    const { cwd, rrd } = place();
    const { code, out, err } = await cli(["add", project, "mine.bib", "mine.ris", "mine.json", "--no-git"], cwd);
    expect(code).toBe(1);
    expect(err).toMatch(/^mine\.bib: 2 entries were read, 1 could not be read: line [0-9]+/);
    expect(err).toContain("They are read first: 'research-ralph run");
    expect(out.split("\n").map((line) => line.split(":")[0])).toEqual([
      ...["added", "added", "already there", "already there", "added"],
      "",
    ]);
    const [, tools, plain, night] = rrd().papers_pool;
    expect(tools).toMatchObject({
      id: "doi_10.1000_tools",
      title: "Tools for hands",
      authors: ["Kim, Bo", "Lee, Ann"],
      date: "2023",
      url: "https://doi.org/10.1000/tools",
      status: "pending",
      priority: 5,
      source: "mine.bib",
      venue: "Journal of Grips",
      volume: "4",
      issue: "2",
      pages: "11-19",
      abstract: "We study tools.",
    });
    expect(plain).toMatchObject({ id: expect.stringMatching(/^listed_/), url: null, authors: ["Moreau, Lise"] });
    expect(night).toMatchObject({ id: "pmid_123456", url: "https://pubmed.ncbi.nlm.nih.gov/123456/" });
    expect((await cli(["validate", project], cwd)).code).toBe(0);

    const before = rrd();
    const again = await cli(["add", project, "mine.bib", "mine.json", "--json", "--no-git"], cwd);
    const said = JSON.parse(again.out) as { papers: { result: string }[]; not_read: object[] };
    expect(said.papers.map(({ result }) => result)).toEqual(["already there", "already there", "already there"]);
    expect(said.not_read).toEqual([
      { file: "mine.bib", count: 1, entries: [expect.stringContaining("line 3 (bad): it has neither title")] },
    ]);
    expect(rrd().papers_pool).toMatchObject(before.papers_pool);
  });

  test.each([
    ["gone.bib", /There is no file .*gone\.bib\./],
    ["empty.ris", /empty\.ris contains no work that can be read/],
  ])("refuses %s alone and changes nothing", async (name, said) => {
    const { cwd, rrd } = place();
    writeFileSync(join(cwd, "empty.ris"), "nothing\n");
    const { code, err } = await cli(["add", project, name, "--no-git"], cwd);
    expect(code).toBe(2);
    expect(err).toMatch(said);
    expect(rrd().papers_pool).toHaveLength(1);
  });

  test("counts what goes beyond a hundred lines", async () => {
    const { cwd, rrd } = place();
    const many = Array.from({ length: 250 }, (_, index) => ({
      id: `k${index}`,
      title: `Touch number ${index} of all`,
    }));
    writeFileSync(join(cwd, "many.json"), JSON.stringify(many));
    const { code, out } = await cli(["add", project, "many.json", "--no-git"], cwd);
    expect(code).toBe(0);
    expect(out.trim().split("\n")).toHaveLength(101);
    expect(out).toContain("and 150 more; of all 250: 250 added, 0 already there, 0 not found");
    expect(rrd().papers_pool).toHaveLength(251);
  });
});

describe("add during a run", () => {
  test("is left for it and reads as added; the run takes each paper once, however often it is told", async () => {
    const { cwd, folder, rrd } = place();
    const site = await serve({});
    onTestFinished(() => site.close());
    writeFileSync(join(cwd, "ralph.config.yaml"), `sources:\n${noServices}  doi: { endpoint: "${site.origin}" }\n`);
    const running = await openResearch(folder, { derive, git: false, notify: () => undefined });
    const left = await cli(["add", project, "mine.ris"], cwd);
    expect([left.code, left.out]).toEqual([
      0,
      expect.stringMatching(/added: kim2023 .*\nalready there: fingers-glass /),
    ]);
    expect(left.err.replace(/\s+/g, " ")).toContain(
      "The project is running; the run adds them before its next iteration",
    );
    expect(rrd().papers_pool).toHaveLength(1);
    const inbox = join(folder, ".ralph", "inbox");
    const [message = ""] = readdirSync(inbox);
    const told = readFileSync(join(inbox, message), "utf8");
    await running.close();

    const run = () => cli(["run", project, ...withUnitAgent, "-i", "1"], cwd);
    expect((await run()).err).toContain("Added, to be read next: kim2023 (Tools for hands).");
    expect([rrd().papers_pool.length, readdirSync(inbox)]).toEqual([2, []]);
    expect(rrd().papers_pool[1]).toMatchObject({ title: "Tools for hands", added: true });
    // A kill between the edit and the removal of the message.
    writeFileSync(join(inbox, message), told);
    expect((await run()).err).toContain("The papers that a person added are in the project already.");
    expect([rrd().papers_pool.length, readdirSync(inbox)]).toEqual([2, []]);
  });

  test("drops what no paper can be made of, and the run goes on", async () => {
    const { cwd, folder, rrd } = place();
    for (const add of [[{ record: { id: 7 } }], [{}], "all"])
      await writeMessage(folder, { beside: { add } }, Date.now(), join(cwd, "state"));
    const { err } = await cli(["run", project, ...withUnitAgent, "-i", "1"], cwd);
    expect(err).not.toMatch(/bug|Added/);
    expect(readdirSync(join(folder, ".ralph", "inbox"))).toEqual([]);
    expect(rrd().papers_pool).toHaveLength(1);
  });

  test("interrupted among many documents keeps those that were read, says how many are left and ends with 130", async () => {
    const { cwd, rrd } = place();
    const names = Array.from({ length: 300 }, (_, index) => `d${index}.html`);
    const body = "<p>Hands hold what they can feel, and let go of what they can not. </p>".repeat(40);
    for (const name of names) writeFileSync(join(cwd, name), `<title>Hands and ${name}</title>${body}`);
    const io = ioIn(cwd);
    io.signals.once("newListener", () => setTimeout(() => io.signals.emit("SIGINT"), 50));
    const code = await main(["add", project, ...names, "--no-git"], io, "0.0.0");
    const [, left = "0"] = /^Interrupted: (\d+) of 300 were not looked up/m.exec(io.err()) ?? [];
    expect({ code, err: io.err(), out: io.out() }).toMatchObject({
      code: 130,
      out: expect.not.stringContaining("not found"),
    });
    expect(Number(left)).toBeGreaterThan(0);
    expect(rrd().papers_pool).toHaveLength(1 + 300 - Number(left));
  });
});
