import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { main } from "../../../src/commands/main.js";
import { cli, ioIn, type } from "../../support/processes/in-process.js";
import { withAnswers } from "../../../src/commands/run/ask-person.js";
import { rrdWith } from "../../support/projects/research.js";
import { unitAgent } from "../../support/processes/command-agents.js";
import { freshFolder } from "../../support/projects/research-folder.js";

const topic = "sim2real transfer for dexterous manipulation";
const agent = ["--agent", unitAgent, "--unconfined"];
const rrdOf = (cwd: string, folder: string): Rrd =>
  JSON.parse(readFileSync(join(cwd, folder.trim(), "rrd.json"), "utf8")) as Rrd;

test("the baseline agent makes a valid research from the topic's words, and nothing is left behind", async () => {
  const cwd = freshFolder();
  const { code, out } = await cli(["new", topic, "--agent", "baseline", "-p", "7"], cwd);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^researches\/[a-z0-9-]+-\d{4}-\d\d-\d\d\n$/) });
  const { project, phase, requirements } = rrdOf(cwd, out);
  expect(project).toBe("Research: sim2real transfer for dexterous manipulation");
  expect({ phase, papers: requirements.target_papers }).toEqual({ phase: "DISCOVERY", papers: 7 });
  expect(requirements.keywords).toContain("dexterous manipulation");
  expect(requirements.sources).toEqual(["arXiv", "OpenAlex", "Semantic Scholar", "web"]);
  expect((await cli(["validate", out.trim()], cwd)).code).toBe(0);
  expect(readdirSync(join(cwd, ".local/state/research-ralph/workspaces"))).toEqual([]);
});

test("the recall that a person asks for stands in the project, with its confidence", async () => {
  const made = async (...wishes: string[]) => {
    const cwd = freshFolder();
    const { code, out, err } = await cli(["new", topic, ...agent, ...wishes], cwd);
    return { code, err, screening: code === 0 ? rrdOf(cwd, out).requirements.screening : undefined };
  };
  expect(await made("--recall", "95%")).toMatchObject({ screening: { target_recall: 0.95, confidence: 0.95 } });
  expect(await made("--recall", "0.9", "--confidence", "0.8")).toMatchObject({
    screening: { target_recall: 0.9, confidence: 0.8 },
  });
  expect((await made()).screening).toBeUndefined();
  for (const [wrong, why] of [
    [["--recall", "95"], "such as 0.95 or 95%"],
    [["--confidence", "0.8"], "give --recall too"],
    [["--recall", "0.9", "--confidence", "1"], "at least 0.5 and less than 1"],
  ] as const)
    expect(await made(...wrong)).toMatchObject({ code: 2, err: expect.stringContaining(why) });
});

test("a table whose columns have names of their own is screened as the person says what they hold", async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, "mine.csv"), "Name,When\nOn the water of shrews,2020\nOn the salt of moles,2021\n");
  writeFileSync(join(cwd, "scopus.csv"), "Title,Authors,Year\nOn the fat of bats,Sample A.,2022\n");
  const made = (...more: string[]) =>
    cli(["new", "shrews", "--source", "list:mine.csv,scopus.csv", "--agent", "baseline", "--no-git", ...more], cwd);
  const unnamed = await made("--name", "unnamed");
  expect([unnamed.code, unnamed.err]).toEqual([0, expect.stringMatching(/warning: .*--column title=<header>/)]);
  expect((await made("--column", "titel=Name")).code).toBe(2);
  const { out } = await made("--column", "title=Name", "--column", "year=When");
  await cli(["run", out.trim(), "--agent", "baseline", "--no-git", "-i", "1", "--quiet"], cwd);
  const { requirements, papers_pool: pool, excluded = [], statistics } = rrdOf(cwd, out);
  expect(requirements.columns).toEqual({ title: "Name", year: "When" });
  expect(statistics?.discovery_metrics?.flow?.identified).toEqual({ "mine.csv": 2, "scopus.csv": 1 });
  expect([...pool, ...excluded].map(({ title }) => title)).toContain("On the water of shrews");
  const searched = await cli(["search", "salt", "--source", "mine.csv", "--column", "title=Name"], cwd);
  expect(searched.out).toContain("On the salt of moles");
});

test("another export joins those of the project: all records are counted and wanted, and a copy is a duplicate", async () => {
  const cwd = freshFolder();
  const list = (...titles: string[]) =>
    ["Title,Authors,Year", ...titles.map((title) => `${title},Sample A.,2021`)].join("\n");
  writeFileSync(join(cwd, "one.csv"), list("On the fat of bats", "On the salt of moles", "On the water of shrews"));
  writeFileSync(join(cwd, "two.csv"), list("On the salt of moles", "On the sleep of foxes"));
  const named = async (source: string, ...more: string[]) => {
    const ran = await cli(["run", ...baseline, "--source", source, "-i", "1", "--quiet", ...more], cwd);
    const { requirements, statistics } = rrdOf(
      cwd,
      readdirSync(join(cwd, "researches")).map((name) => `researches/${name}`)[0] ?? "",
    );
    const { identified, duplicates_removed } = statistics?.discovery_metrics?.flow ?? {};
    return { err: ran.err, identified, duplicates_removed, ...requirements };
  };
  const baseline = ["--agent", "baseline", "--no-git"];
  expect((await cli(["new", "animals", "--source", "one.csv", "-p", "3", ...baseline], cwd)).code).toBe(0);
  expect((await cli(["run", ...baseline, "-i", "1", "--quiet"], cwd)).err).not.toContain("Error");
  const both = {
    sources: ["one.csv", "two.csv"],
    identified: { "one.csv": 3, "two.csv": 2 },
    duplicates_removed: 1,
    target_papers: 5,
  };
  expect(await named("two.csv")).toMatchObject(both);
  // The same file under another name is not counted twice.
  expect(await named("Scopus=one.csv")).toMatchObject({
    ...both,
    sources: ["two.csv", "Scopus=one.csv"],
    identified: { "two.csv": 2, Scopus: 3 },
  });
  writeFileSync(join(cwd, "three.csv"), list("On the heat of otters", "On the cold of hares"));
  expect(await named("three.csv", "-p", "6", "--force")).toMatchObject({ target_papers: 6 });
});

test("sources, dates and keywords that a person names stand in the project, and what is asked instead is said", async () => {
  const cwd = freshFolder();
  mkdirSync(join(cwd, "papers"));
  const wishes = ["--source", "folder:papers,arxiv", "--source", "pubmed", "--keyword", "tactile skin"];
  const { code, out, err } = await cli(
    ["new", topic, ...agent, ...wishes, "--from", "2024", "--until", "2025-06"],
    cwd,
  );
  expect(code).toBe(0);
  expect(err).toContain("Europe PMC");
  const { requirements } = rrdOf(cwd, out);
  expect(requirements).toMatchObject({
    sources: ["folder:papers", "arXiv", "pubmed"],
    keywords: expect.arrayContaining(["tactile skin"]),
    published_from: "2024-01-01",
    published_until: "2025-06-30",
  });
  for (const wrong of [
    ["--source", "folder:nowhere"],
    ["--source", "arxvi"],
    ["--from", "soon"],
    ["--from", "2025", "--until", "2024"],
  ])
    expect(await cli(["new", topic, ...agent, ...wrong], cwd)).toMatchObject({ code: 2, out: "" });
  expect(await cli(["run", out.trim(), ...agent, "--source", "samples", "-i", "1", "--no-git"], cwd)).toMatchObject({
    code: 3,
  });
  expect(rrdOf(cwd, out).requirements.sources).toEqual(["folder:papers", "samples"]);
});

test("off a terminal a missing topic is an error, on one it is asked for", async () => {
  const cwd = freshFolder();
  expect(await cli(["new"], cwd)).toMatchObject({ code: 2, err: expect.stringContaining("The topic is missing") });
  const io = ioIn(cwd, {}, { canAsk: true });
  const done = main(["new", "--agent", "baseline", "--no-git"], io, "0.0.0");
  type(io, `${topic}\r`);
  expect(await done).toBe(0);
  expect(readdirSync(join(cwd, "researches"))).toHaveLength(1);
});

test("one agent makes one research, however many may read papers at a time", async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ jobs: 3 }));
  const { code, err } = await cli(["new", topic, "--agent", "baseline"], cwd);
  expect({ code, started: err.match(/\S+ DISCOVERY: /g)?.length }).toEqual({ code: 0, started: 1 });
  expect(readdirSync(join(cwd, "researches"))).toHaveLength(1);
});

test("a second research of the same name on the same day gets a number, and --json names it last", async () => {
  const cwd = freshFolder();
  const first = (await cli(["new", topic, ...agent, "--quiet"], cwd)).out.trim();
  const { out } = await cli(["--new", topic, ...agent, "--json"], cwd);
  expect(JSON.parse(out.trim().split("\n").at(-1) ?? "")).toEqual({ type: "created", folder: join(cwd, `${first}-2`) });
});

test("a research is committed when it is made, and where there is no repository that is said once", async () => {
  const cwd = freshFolder();
  const none = "Nothing is committed, because this folder is not in a git repository";
  const made = await cli(["new", topic, ...agent], cwd);
  expect(made.err.split(none)).toHaveLength(2);
  expect((await cli(["run", made.out.trim(), "-i", "1", ...agent], cwd)).err).not.toContain(none);
  expect((await cli(["new", topic, ...agent, "--no-git"], cwd)).err).not.toContain(none);
  const git = (...args: string[]) => execFileSync("git", ["-C", cwd, ...args], { encoding: "utf8" });
  git("init", "-q");
  const { out, err } = await cli(["new", topic, ...agent], cwd);
  expect(err).not.toContain(none);
  expect(git("log", "--format=%s")).toBe(`new: ${out.trim().replace("researches/", "")}\n`);
  expect(git("status", "--porcelain", "--", out.trim())).toBe("");
  expect((await cli(["run", out.trim(), "-i", "1", ...agent], cwd)).err).not.toContain(none);
});

test("what the topic leaves open is shown with what was assumed, and that nothing confines the agent is said", async () => {
  const { err } = await cli(["new", topic, ...agent], freshFolder());
  expect(err).toContain("  ? Which hands are meant? Assumed: soft\n");
  expect(err).toContain("runs unconfined");
  expect(err).toMatch(/^ *research-ralph run \S+ --ask$/m);
});

test("who leaves the questions of run --ask starts nothing", async () => {
  const cwd = freshFolder();
  const { out } = await cli(["new", topic, ...agent], cwd);
  const before = rrdOf(cwd, out);
  const io = ioIn(cwd, {}, { canAsk: true });
  type(io, "\u0003");
  expect(await main(["run", out.trim(), "--ask", ...agent], io, "0.0.0")).toBe(2);
  expect(io.err()).toContain("Not all questions have an answer, so no run was started");
  expect([rrdOf(cwd, out), existsSync(join(cwd, out.trim(), "ledger.jsonl"))]).toEqual([before, true]);
  expect(
    readFileSync(join(cwd, out.trim(), "ledger.jsonl"), "utf8")
      .trim()
      .split("\n"),
  ).toHaveLength(1);
});

test.each([
  [["new", "  "], "The topic is empty"],
  [["new", topic, "--agent", "nobody"], "Unknown agent 'nobody'"],
  [["new", topic, "--ask", ...agent], "--ask needs a terminal"],
  [["run", "--ask", ...agent], "--ask needs a terminal"],
])("%j is wrong usage before any agent works: exit 2, no folder", async (args, sentence) => {
  const cwd = freshFolder();
  expect(await cli(args, cwd)).toMatchObject({ code: 2, out: "", err: expect.stringContaining(sentence) });
  expect(existsSync(join(cwd, "researches"))).toBe(false);
});

test("an agent whose requirements are refused three times makes no folder: exit 5", async () => {
  const cwd = freshFolder();
  const { code, err } = await cli(
    ["new", topic, "--quiet", "--agent", "cmd:echo '{}' > result.json", "--unconfined"],
    cwd,
  );
  expect({ code, err }).toEqual({
    code: 5,
    err: expect.stringContaining("blocked: The agent's requirements were refused three times"),
  });
  expect(existsSync(join(cwd, "researches"))).toBe(false);
});

test("an answer goes into the field that its question names, in the kind of value that stands there, and nowhere else", () => {
  const open_questions = [
    { question: "how far back?", field: "requirements.historical_lookback_days" },
    { question: "which keywords?", field: "/requirements/keywords" },
    { question: "what for?", field: "description" },
    { question: "nonsense?", field: "requirements.nothing" },
    { question: "how many?", field: "requirements.target_papers" },
  ];
  const rrd = { ...rrdWith([]), open_questions };
  const answers = new Map([
    ["how far back?", "730 days"],
    ["which keywords?", "soft hands, tactile skin"],
    ["what for?", "Hands for kitchens."],
    ["nonsense?", "x"],
    ["how many?", "-3"],
  ]);
  const answered = withAnswers(rrd, answers);
  expect(answered).toMatchObject({
    description: "Hands for kitchens.",
    requirements: { historical_lookback_days: 730, keywords: ["soft hands", "tactile skin"] },
  });
  expect(answered.requirements.target_papers).toBe(rrd.requirements.target_papers);
  expect(answered.requirements).not.toHaveProperty("nothing");
  expect(answered.open_questions?.[3]).toMatchObject({ current_default: "x" });
});

test("criteria that a person gives stand in the project with ids, and what is none is a usage error", async () => {
  const cwd = freshFolder();
  const rules = ["include: randomised trials, blinded", "EXCLUDE:  Tierversuche", "include: 随机对照试验"];
  const { code, out, err } = await cli(
    ["new", topic, ...agent, ...rules.flatMap((rule) => ["--criterion", rule])],
    cwd,
  );
  expect(code).toBe(0);
  expect(rrdOf(cwd, out).requirements.criteria).toEqual([
    { id: "c1", text: "randomised trials, blinded", kind: "include" },
    { id: "c2", text: "Tierversuche", kind: "exclude" },
    { id: "c3", text: "随机对照试验", kind: "include" },
  ]);
  expect(err).toContain("c2 (exclude: Tierversuche)");
  expect((await cli(["validate", out.trim()], cwd)).code).toBe(0);
  for (const [wrong, said] of [
    [["randomised trials"], "must begin with 'include:' or 'exclude:'"],
    [["include: mice", "exclude: Mice"], "contradicts criterion c1"],
    [[`include: ${"x".repeat(5_000)}`], "has 5,000 characters; 1,000 are allowed"],
  ] as const)
    expect(await cli(["new", topic, ...agent, ...wrong.flatMap((rule) => ["--criterion", rule])], cwd)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining(said),
    });
});

test("a project without criteria has no field for them", async () => {
  const cwd = freshFolder();
  const { out } = await cli(["new", topic, ...agent], cwd);
  expect(rrdOf(cwd, out).requirements).not.toHaveProperty("criteria");
});

test("--name names the project, its folder and its branch; what can be no name is refused before an agent starts", async () => {
  const cwd = freshFolder();
  const { code, out } = await cli(["new", topic, ...agent, "--name", "Soft grippers"], cwd);
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/^researches\/soft-grippers-\d{4}-\d\d-\d\d\n$/),
  });
  expect(rrdOf(cwd, out)).toMatchObject({ project: "Research: Soft grippers", branchName: "research/soft-grippers" });
  for (const wrong of ["…", "x".repeat(101)]) {
    const refused = await cli(["new", topic, ...agent, "--name", wrong], cwd);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("--name must have")]);
  }
});

test("with a topic and sources no agent is needed and none is started: what is said makes the project, at once", async () => {
  const cwd = freshFolder();
  mkdirSync(join(cwd, "papers"));
  const said = [
    "--source",
    "folder:papers",
    "--agent",
    "cmd:touch started",
    "--unconfined",
    "--criterion",
    "include: hands",
  ];
  const { code, out, err } = await cli(["new", topic, ...said], cwd);
  expect({ code, err }).toEqual({
    code: 0,
    err: expect.stringContaining("without an agent. Keywords: sim2real transfer"),
  });
  expect(rrdOf(cwd, out)).toMatchObject({
    project: "Research: sim2real transfer for dexterous manipulation",
    description: topic,
    requirements: { sources: ["folder:papers"], criteria: [{ id: "c1", kind: "include", text: "hands" }] },
  });
  // Nobody named a date, so none excludes what lies in the folder.
  expect(rrdOf(cwd, out).requirements).not.toHaveProperty("historical_lookback_days");
  expect(existsSync(join(cwd, out.trim(), "ledger.jsonl"))).toBe(false);
  expect((await cli(["validate", out.trim()], cwd)).code).toBe(0);
  const named = await cli(["new", topic, ...said, "--keyword", "tactile skin", "--name", "Hands"], cwd);
  expect(rrdOf(cwd, named.out)).toMatchObject({
    project: "Research: Hands",
    requirements: { keywords: ["tactile skin"] },
  });
});

test("an agent is told what was said already, its name of any length is taken, and what it asks of that again is dropped", async () => {
  const cwd = freshFolder();
  const result = {
    unit: "requirements",
    name: "Two words",
    keywords: ["tactile skin"],
    time_window_days: 3,
    open_questions: [
      { field: "requirements.published_from", question: "From when?", current_default: "2020" },
      { field: "requirements.focus_area", question: "Which hands?", current_default: "soft" },
    ],
  };
  const agentOf = (answer: object) => [
    "--agent",
    `cmd:cat > ${join(cwd, "brief.md")}; printf '%s' '${JSON.stringify(answer)}' > result.json`,
    "--unconfined",
  ];
  const { code, out } = await cli(["new", topic, ...agentOf(result), "--from", "2024", "--keyword", "grasping"], cwd);
  const brief = readFileSync(join(cwd, "brief.md"), "utf8");
  expect({ code, brief }).toEqual({ code: 0, brief: expect.stringContaining('"published_from": "2024-01-01"') });
  expect(brief).toContain('"grasping"');
  const rrd = rrdOf(cwd, out);
  expect(rrd).toMatchObject({
    project: "Research: Two words",
    requirements: { keywords: ["grasping", "tactile skin"] },
  });
  expect(rrd.open_questions?.map((each) => (typeof each === "string" ? each : each.question))).toEqual([
    "Which hands?",
  ]);
  expect(rrd.requirements).not.toHaveProperty("time_window_days");
  const long = { unit: "requirements", name: "one two three four five six seven", keywords: [] };
  expect(rrdOf(cwd, (await cli(["new", topic, ...agentOf(long)], cwd)).out)).toMatchObject({
    project: "Research: one two three four five six seven",
    description: topic,
    requirements: { keywords: expect.arrayContaining(["dexterous manipulation"]) },
  });
});
