import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { main } from "../../../src/commands/main.js";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { cli, ioIn, type } from "../../support/processes/in-process.js";
import { freshFolder } from "../../support/projects/research-folder.js";

const question = "how well does sim2real transfer serve dexterous manipulation?";
const baseline = ["--agent", "baseline", "--no-git"];

function withPapers(): string {
  const cwd = freshFolder();
  cpSync(packageFile("demo/corpus"), join(cwd, "papers"), {
    recursive: true,
    filter: (path) => !path.endsWith(".pdf"),
  });
  return cwd;
}

const projects = (cwd: string): string[] =>
  existsSync(join(cwd, "researches")) ? readdirSync(join(cwd, "researches")) : [];

const rrdOf = (cwd: string): Rrd =>
  JSON.parse(readFileSync(join(cwd, "researches", projects(cwd)[0] ?? "", "rrd.json"), "utf8")) as Rrd;

test("one command makes a project of a question and a folder, runs it, and later deepens the same one", async () => {
  const cwd = withPapers();
  const unasked = await cli(["papers/", question, ...baseline], cwd);
  expect(unasked).toMatchObject({ code: 2, err: expect.stringContaining("add --yes") });
  expect(unasked.err).toMatch(
    /^Plan: {2}read all 10 documents of papers, write a checked report\nCost: .*baseline uses no model\nWhere: researches\/ .*\n(?!.*:  )/,
  );
  const { error } = JSON.parse((await cli(["papers/", question, "--json", ...baseline], cwd)).out) as { error: string };
  expect(error).toMatch(/add --yes to begin\. Cost: .*baseline uses no model\.$/);
  expect(projects(cwd)).toEqual([]);
  expect(await cli(["run", "--quick"], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining('it goes with a question: research-ralph "…" --quick.'),
  });

  const quick = await cli(["papers/", question, "--quick", "--yes", ...baseline], cwd);
  expect(quick).toMatchObject({ code: 0, out: expect.stringContaining("COMPLETE") });
  const first = rrdOf(cwd);
  expect(first).toMatchObject({
    phase: "COMPLETE",
    requirements: { target_papers: 8, sources: ["folder:papers"] },
    handoff: { product_ideation: { enabled: false } },
  });
  expect(first.papers_pool).toHaveLength(8);

  // The same words again, however they are spaced: nothing is made, and more is read only with a yes.
  const same = [`  ${question.toUpperCase()} `, "--source", "folder:papers", ...baseline];
  expect(await cli(["papers", question, "--quick", ...baseline], cwd)).toMatchObject({ code: 0 });
  expect(rrdOf(cwd).papers_pool).toHaveLength(8);
  expect(await cli(same, cwd)).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^Plan: .* with baseline, from 8 papers to 9\nCost: .*no model\n.*--yes/),
  });
  expect(await cli([...same, "--yes"], cwd)).toMatchObject({ code: 0 });
  expect(projects(cwd)).toHaveLength(1);
  expect(rrdOf(cwd).papers_pool.length).toBeGreaterThan(8);
  expect(await cli(["papers", question, "--quick", ...baseline], cwd)).toMatchObject({
    code: 2,
    err: expect.stringMatching(/of 10 papers, and --quick would not make them 8; .* -p 8 --force\.$/m),
  });
});

test("a question's papers get points, and ideas follow, only where that is asked for", async () => {
  const cwd = withPapers();
  const begin = [question, "--source", "samples", "--yes", "-i", "1", ...baseline];
  for (const rubric of [[], ["--rubric", "original"]]) {
    for (const project of projects(cwd)) rmSync(join(cwd, "researches", project), { recursive: true });
    await cli([...begin, ...rubric], cwd);
    const { rubric: by, handoff } = rrdOf(cwd);
    expect([by, handoff?.product_ideation?.enabled]).toEqual(
      rubric.length === 0 ? ["none", false] : ["original", true],
    );
  }
});

test("a question in quotes may stand behind the papers, and what is not there is no word of it", async () => {
  const cwd = withPapers();
  expect(await cli([question, "paper/", "--yes", ...baseline], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining("Nothing is at paper/; beside a question in quotes"),
  });
  expect(projects(cwd)).toEqual([]);
  await cli([question, "papers/", "--yes", "-i", "1", ...baseline], cwd);
  expect(rrdOf(cwd)).toMatchObject({ question, requirements: { sources: ["folder:papers"] } });
  expect(await cli(["papers/", question, ...baseline], cwd)).toMatchObject({ code: 0 });
  expect(projects(cwd)).toHaveLength(1);
});

test("what would change nothing in the project that is there is refused, and the same command goes on", async () => {
  const cwd = withPapers();
  const wishes = [
    "--criterion",
    "include: robots are used",
    "--field",
    "sample size: how many trials",
    "--seed",
    "2401.12345",
  ];
  const begin = ["papers", question, "-i", "1", ...baseline];
  expect(await cli([...begin, ...wishes, "--yes"], cwd)).toMatchObject({ code: 3 });
  expect(await cli([...begin, ...wishes], cwd)).toMatchObject({ code: 3 });
  const others = ["--rubric", "original", "--criterion", "exclude: reviews", "--from", "2020"];
  const file = `researches/${projects(cwd)[0]}/rrd.json`;
  expect(await cli([...begin, ...others], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining(
      `--rubric, --criterion, --from would not change it: --rubric, --criterion, --from can be changed in ${file}. To go on, leave them out`,
    ),
  });
  expect(await cli([...begin, "--field", "robots: which"], cwd)).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /it: research-ralph extract how-well-does-sim2real --field … adds a field\. .* leave it out/,
    ),
  });
  expect(projects(cwd)).toHaveLength(1);
});

test("a new name makes another project of the same question, and the same name goes on", async () => {
  const cwd = withPapers();
  const begin = (...name: string[]) => cli(["papers", question, "--yes", "-i", "1", ...baseline, ...name], cwd);
  await begin();
  await begin("--name", "second look");
  expect(projects(cwd)).toHaveLength(2);
  expect((await begin("--name", "Second look")).err).toMatch(/It goes on with second-look/);
  expect(projects(cwd)).toHaveLength(2);
});

test("a folder of which every document was looked at has no more papers, and a wrong option is told before the plan", async () => {
  const cwd = withPapers();
  const papers = join(cwd, "papers");
  for (const name of readdirSync(papers).toSorted().slice(2)) rmSync(join(papers, name), { recursive: true });
  cpSync(join(papers, readdirSync(papers)[0] ?? ""), join(papers, "copy.md"));
  const wrong = await cli(["papers/", question, "--criterion", "includes: robots", "--yes", ...baseline], cwd);
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("must begin with 'include:'") });
  expect(wrong.err).not.toContain("Plan:");
  const quick = await cli(["papers/", question, "--quick", "--yes", ...baseline], cwd);
  expect(quick.err).toContain("complete");
  expect(quick.err).not.toContain("without --quick");
  expect(await cli(["papers/", question, "-p", "9", ...baseline], cwd)).toMatchObject({
    code: 0,
    err: expect.stringContaining("It goes on with how-well-does-sim2real, one agent at a time."),
  });
});

test("a single document is refused with the command for its folder, also before options", async () => {
  const cwd = withPapers();
  const [first = "", second = ""] = readdirSync(join(cwd, "papers")).map((name) => `papers/${name}`);
  for (const paths of [[first], [first, second]])
    expect(await cli([...paths, question, "--yes", ...baseline], cwd)).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        `${first} is a single document; give the folder of the documents to read, such as research-ralph papers/ "${question}"`,
      ),
    });
  expect(projects(cwd)).toEqual([]);
});

test("on a terminal it asks for the question of a folder, says what it will do, and asks once", async () => {
  const cwd = withPapers();
  const io = ioIn(cwd, {}, { canAsk: true });
  type(io, question, "\r", "\u001b[B", "\r");
  expect(await main(["papers/", ...baseline], io, "0.0.0")).toBe(2);
  expect(projects(cwd)).toEqual([]);
  type(io, question, "\r", "\r");
  expect(await main(["papers/", ...baseline], io, "0.0.0")).toBe(0);
  expect(rrdOf(cwd).phase).toBe("COMPLETE");
});

test("who is asked sees the plan, also where stdout is for a program", async () => {
  const cwd = withPapers();
  const io = ioIn(cwd, {}, { canAsk: true });
  type(io, "\u001b[B", "\r");
  expect(await main(["papers/", question, "--json", ...baseline], io, "0.0.0")).toBe(2);
  expect(io.err()).toContain("Plan:");
  expect(JSON.parse(io.out())).toMatchObject({ error: expect.stringContaining("Nothing was created") });
});

test("a run that was cut short goes on by the same command, without a question", async () => {
  const cwd = withPapers();
  const cut = await cli(["papers/", question, "--yes", "-i", "2", ...baseline], cwd);
  expect(cut.code).toBe(3);
  expect(await cli(["papers/", question, ...baseline], cwd)).toMatchObject({
    code: 0,
    err: expect.stringContaining("It goes on with"),
  });
  expect(projects(cwd)).toHaveLength(1);
  const finished = await cli([question, ...baseline], cwd);
  expect(finished.err.replace(/\s+/g, " ")).toContain("with --name and a new name starts another");
});

test("a project whose rrd.json is damaged is told by the same command, and no other one is begun", async () => {
  const cwd = withPapers();
  const begin = ["papers/", question, ...baseline];
  await cli([...begin, "--yes", "-i", "2"], cwd);
  const path = join(cwd, "researches", projects(cwd)[0] ?? "", "rrd.json");
  const good = readFileSync(path, "utf8");
  writeFileSync(path, good.replace('"phase": ', '"phase" '));
  expect(await cli([...begin, "--yes"], cwd)).toMatchObject({ code: 1, err: expect.stringContaining("rrd.json") });
  expect(projects(cwd)).toHaveLength(1);
  writeFileSync(path, good);
  expect(await cli(begin, cwd)).toMatchObject({ code: 0 });
});

test("a report that a stopped run has left behind says on its page that it is older", async () => {
  const cwd = withPapers();
  const begin = ["papers/", question, ...baseline, "--yes"];
  expect((await cli([...begin, "--quick"], cwd)).code).toBe(0);
  const page = () => readFileSync(join(cwd, "researches", projects(cwd)[0] ?? "", "report.html"), "utf8");
  expect(page()).toMatch(/Finished · /);
  expect((await cli([...begin, "-i", "2"], cwd)).code).toBe(3);
  expect(page()).not.toMatch(/Finished · /);
  expect(page()).toContain("This report is older than 1 reading");
});

test("the agent chooses the search words of a question, also for a quick report, and adds to typed ones", async () => {
  const cwd = freshFolder();
  const planOf = async (...more: string[]) => (await cli([question, ...baseline, ...more], cwd)).err;
  expect(await planOf("--quick")).toContain(
    "and Semantic Scholar for words that baseline chooses, read up to 8 papers",
  );
  expect(await planOf("--keyword", "soft hands")).toContain(
    'for "soft hands" and words that baseline adds, read up to',
  );
  expect(await planOf("--source", "arXiv")).toMatch(/search arXiv for ".+" \(or other words with --keyword\)/);
});

test("an export is read by its name, and a script has to say the question", async () => {
  const cwd = freshFolder();
  const entry = (title: string) => `TY  - JOUR\nTI  - ${title}\nAU  - Sample, A\nPY  - 2024\nER  - \n`;
  writeFileSync(join(cwd, "export.ris"), entry("Grippers in simulation") + entry("Hands in the real world"));
  expect(await cli(["export.ris", ...baseline], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining('research-ralph export.ris "'),
  });
  const { err } = await cli(["export.ris", "do grippers work at all?", "--yes", ...baseline], cwd);
  expect(err).toContain("screen 2 records of export.ris");
  expect(rrdOf(cwd).requirements.sources).toEqual(["export.ris"]);
});

test("without an agent it says which there are; with another than the default one, that one works", async () => {
  const cwd = withPapers();
  const none = ioIn(cwd, { PATH: cwd });
  expect(await main([question, "--yes"], none, "0.0.0")).toBe(1);
  for (const words of ["Claude Code", "--agent ralph", "research-ralph demo"]) expect(none.err()).toContain(words);
  mkdirSync(join(cwd, "bin"));
  writeFileSync(join(cwd, "bin/codex"), "#!/bin/sh\necho codex-cli 0.169.0\n", { mode: 0o755 });
  const other = ioIn(cwd, { PATH: `${cwd}/bin:/usr/bin:/bin` });
  expect(await main([question], other, "0.0.0")).toBe(2);
  expect(other.err()).toContain("Cost:  codex: ≈ ");
  expect(projects(cwd)).toEqual([]);
});

test.each(["staus", "sim2real", "simulated hands"])("%j is no question, and says so", async (word) => {
  const { code, err } = await cli([word], freshFolder());
  expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/unknown command/) });
});
