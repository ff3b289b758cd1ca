import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Criterion, Paper, Rrd } from "../../../src/research/generated/rrd.js";
import { markVariable } from "../../../src/engine/process/descendants.js";
import { openResearch } from "../../../src/research/project-files/research.js";
import { derive } from "../../../src/research/workflow/derive.js";
import { withUnitAgent } from "../../support/processes/command-agents.js";
import { cli } from "../../support/processes/in-process.js";
import { freshFolder, makeResearch, paper, sampleResearch } from "../../support/projects/research-folder.js";

const criteria: Criterion[] = [
  { id: "c1", kind: "include", text: "robot hands" },
  { id: "c2", kind: "exclude", text: "an open question" },
];
const rrdOf = (folder: string): Rrd => JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
const change = (folder: string, edit: (rrd: Rrd) => void) => {
  const rrd = rrdOf(folder);
  edit(rrd);
  writeFileSync(join(folder, "rrd.json"), JSON.stringify(rrd, null, 2));
};
const paperIn = (folder: string, id: string) => rrdOf(folder).papers_pool.find((each) => each.id === id) as Paper;
const spaced = (text: string) => text.replace(/\s+/g, " ");
const project = "hands-2026-03-01";

/** A folder with a project of one paper in each state that a decision can meet. */
function someProject(): { cwd: string; folder: string } {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, project, {
    requirements: { target_papers: 4, criteria },
    papers_pool: [
      paper("p1", "pending"),
      paper("p22", "pending"),
      paper("p23", "rejected", { retracted: true }),
      paper("gone\u001b[31m", "pending"),
    ],
    excluded: [
      {
        id: "x1",
        title: "Mice",
        reason: "excluded by c2",
        stage: "screened",
        criterion: "c2",
        url: "https://example.org/x1",
      },
      { id: "d1", title: "Twice", reason: "the same work as p1", stage: "duplicate", duplicate_of: "p1" },
    ],
  });
  return { cwd, folder };
}

test("a project whose papers wait ends complete, status names the criterion, and decide settles each", async () => {
  const cwd = freshFolder();
  const folder = sampleResearch(cwd);
  change(folder, (rrd) => {
    rrd.requirements.criteria = criteria;
  });
  expect((await cli(withUnitAgent, cwd)).code).toBe(0);
  const { papers_pool: pool, phase, statistics } = rrdOf(folder);
  expect({ phase, statuses: pool.map(({ status }) => status) }).toEqual({
    phase: "COMPLETE",
    statuses: ["waiting", "waiting"],
  });
  expect(statistics?.total_waiting).toBe(2);
  const [first = "", second = ""] = pool.map(({ id }) => id);
  const [firstKey = "", secondKey = ""] = pool.map(({ key }) => key);

  for (const name of ["report.html", "research-report.md"])
    expect(spaced(readFileSync(join(folder, name), "utf8"))).toContain(
      "2 papers wait for your decision on eligibility, and nothing is built on them until then: research-ralph screen.",
    );

  const status = await cli(["status", folder], cwd);
  expect(status.out.replace(/\s+/g, " ")).toContain(
    `Waits 2 papers: c2 unclear c2 (exclude: an open question) 'research-ralph screen grasping-2026-03-01' shows them one after the other; 'research-ralph decide' decides on one paper`,
  );
  expect(JSON.parse((await cli(["status", folder, "--json"], cwd)).out)).toMatchObject({
    waiting: [{ id: first, key: firstKey, open: [{ id: "c2" }] }, { id: second }],
  });
  const shown = (await cli(["show", folder, first], cwd)).out;
  expect(shown).toMatch(/waiting for a person, read: full/);
  expect(shown).toMatch(
    /Eligibility\n  Screened by title and abstract:\n.* c1 \(include: robot hands\): unclear, title and abstract\n/,
  );
  expect(shown).toMatch(/✓ c1 \(include: robot hands\): yes, .+\n +(?:> )?“.+/);
  expect(shown).toMatch(/\n  Read:\n.* c1 /);
  expect(shown).toMatch(/\? c2 \(exclude: an open question\): unclear, full text/);

  const included = await cli(["decide", folder, first, "include", "It is about hands.", "--no-git"], cwd);
  expect(included).toMatchObject({ code: 0, out: expect.stringMatching(/is included, \d+ points/) });
  expect(included.err).toBe(
    "The report is older than this decision: research-ralph run grasping-2026-03-01 writes it again.\n",
  );
  for (const name of ["report.html", "research-report.md"])
    expect(spaced(readFileSync(join(folder, name), "utf8"))).toContain("This report is older than");
  const excluded = await cli(["decide", folder, second, "exclude", "It is not.", "--no-git", "--json"], cwd);
  expect(JSON.parse(excluded.out)).toMatchObject({ paper: second, decision: "exclude", status: "rejected" });
  expect(rrdOf(folder).papers_pool.map(({ status: is }) => is)).toEqual(["presented", "rejected"]);
  expect(rrdOf(folder).statistics).toMatchObject({ total_presented: 1, total_rejected: 1, total_waiting: 0 });
  expect(rrdOf(folder).statistics?.discovery_metrics?.flow?.full_text).toMatchObject({
    excluded: { person: 1 },
    waiting: 0,
    included: 1,
  });
  expect((await cli(["status", folder], cwd)).out).not.toContain("decides on one paper");
  expect((await cli(["show", folder, second], cwd)).out).toContain("A person decided: exclude. It is not.");
  expect((await cli(["validate", folder], cwd)).code).toBe(0);

  const older = `2 of your decisions (${firstKey}, ${secondKey})`;
  expect(spaced((await cli(["status", folder], cwd)).out)).toContain(
    `grasping-2026-03-01' writes the report again, which is older than ${older}`,
  );
  const report = () => JSON.parse(readFileSync(join(folder, "report.json"), "utf8")) as { iteration: number };
  expect(spaced((await cli(["report", folder, "--no-git"], cwd)).out)).toContain(`This report is older than ${older}`);
  const written = report().iteration;
  const renewed = await cli([...withUnitAgent, "--no-git"], cwd);
  expect(renewed).toMatchObject({ code: 0, err: expect.stringContaining(`The report is older than ${older}, so`) });
  expect(report().iteration).toBeGreaterThan(written);
  const page = readFileSync(join(folder, "report.html"), "utf8");
  expect([page.includes("is older than"), rrdOf(folder).phase]).toEqual([false, "COMPLETE"]);
  expect((await cli([...withUnitAgent, "--no-git"], cwd)).err).not.toContain("older");

  expect((await cli(["reset", folder, "--paper", second, "--no-git"], cwd)).out).toContain(
    "So is the decision to exclude",
  );
  const again = paperIn(folder, second);
  expect(again).toMatchObject({ status: "pending", answers: [{ stage: "screening" }, { stage: "screening" }] });
  expect([again.override, again.held_scores, again.excluded_by]).toEqual([undefined, undefined, undefined]);
});

test("reset takes back readings on which a person has decided, and --undo brings them back", async () => {
  const cwd = freshFolder();
  const folder = sampleResearch(cwd);
  change(folder, (rrd) => {
    rrd.requirements.criteria = criteria;
  });
  await cli(withUnitAgent, cwd);
  const [first = "", second = ""] = rrdOf(folder).papers_pool.map(({ id }) => id);
  await cli(["decide", folder, first, "include", "Yes.", "--no-git"], cwd);
  await cli(["decide", folder, second, "exclude", "No.", "--no-git"], cwd);
  const before = rrdOf(folder).papers_pool;
  expect(before.map(({ status }) => status)).toEqual(["presented", "rejected"]);
  expect((await cli(["reset", folder, "--to", "1", "--no-git"], cwd)).code).toBe(0);
  expect(rrdOf(folder).papers_pool).toMatchObject([
    { status: "pending", score: null, score_breakdown: null, analysis: null },
    // Nobody has to read what a person excludes.
    { status: "rejected", score: null, analysis: null },
  ]);
  expect((await cli(["reset", folder, "--undo", "--no-git"], cwd)).code).toBe(0);
  expect(rrdOf(folder).papers_pool).toEqual(before);
  expect((await cli(["reset", folder, "--paper", second, "--no-git"], cwd)).code).toBe(0);
  const undone = await cli(["reset", folder, "--undo", "--no-git"], cwd);
  expect(undone).toMatchObject({ code: 0, out: expect.not.stringContaining("You changed") });
  expect(undone.out).not.toContain(second);
  expect(rrdOf(folder).papers_pool).toEqual(before);
  expect((await cli(["validate", folder], cwd)).out).toContain("0 errors");
});

describe("a decision on a record", () => {
  test("of which the beginning of its id is enough is taken; an excluded one comes into the pool and is read first", async () => {
    const { cwd, folder } = someProject();
    expect(await cli(["decide", project, "x", "include", "Mice count.", "--no-git"], cwd)).toMatchObject({
      code: 0,
      out: "mice is included and will be read.\n",
    });
    expect(paperIn(folder, "x1")).toMatchObject({ status: "pending", priority: 5, url: "https://example.org/x1" });
    expect(rrdOf(folder).excluded?.map(({ id }) => id)).toEqual(["d1"]);
  });

  test("not-retrieved counts a paper, also a record that was screened out, among the reports that could not be had", async () => {
    const { cwd, folder } = someProject();
    const said = ["not-retrieved", "No library has it.", "--no-git"];
    const [paper, record] = [await cli(["decide", "p22", ...said], cwd), await cli(["decide", "x1", ...said], cwd)];
    expect([paper.out, record.out]).toEqual(["paper-2 counts as not retrieved.\n", "mice counts as not retrieved.\n"]);
    const csv = (await cli(["report", project, "--as", "prisma"], cwd)).out;
    expect(csv).toMatch(/"?dbr_notretrieved_reports"?,.*\b2\b/);
    expect(spaced((await cli(["status", project], cwd)).out)).toContain(
      "A person could not get it: No library has it.",
    );
    await cli(["decide", "p22", "include", "It came by post.", "--no-git"], cwd);
    expect([paperIn(folder, "p22").status, paperIn(folder, "x1").status]).toEqual(["pending", "not_retrieved"]);
    expect((await cli(["validate", folder], cwd)).code).toBe(0);
  });

  test("names the criterion that excludes it, whose words are the reason where none is given", async () => {
    const { cwd, folder } = someProject();
    const { out } = await cli(["decide", project, "p1", "p22", "exclude", "--criterion", "c2", "--json"], cwd);
    expect(JSON.parse(out)).toMatchObject({
      decisions: ["p1", "p22"].map((id) => ({
        paper: id,
        decision: "exclude",
        criterion: "c2",
        why: "c2 applies (an open question)",
      })),
    });
    expect(paperIn(folder, "p1").override).toMatchObject({ decision: "exclude", criterion: "c2" });
    await cli(["decide", project, "p1", "exclude", "No hand in it.", "--criterion", "c1"], cwd);
    expect(paperIn(folder, "p1").override).toMatchObject({ why: "No hand in it.", criterion: "c1" });
  });

  test.each([
    ["comma", "id,decision,why\np22,exclude,About feet; not hands.\n", "About feet; not hands."],
    ["semicolon", "id;decision;why\np22;exclude;Feet, toes, not hands.\n", "Feet, toes, not hands."],
    ["tab", "id\tdecision\twhy\np22\texclude\tFeet, toes; not hands.\n", "Feet, toes; not hands."],
  ])("takes the %s of a table's head as what parts its cells", async (_, table, why) => {
    const { cwd, folder } = someProject();
    writeFileSync(join(cwd, "said.csv"), table);
    expect((await cli(["decide", "said.csv", "--no-git"], cwd)).code).toBe(0);
    expect(paperIn(folder, "p22").override).toMatchObject({ decision: "exclude", why });
  });

  test.each(["utf16le", "latin1"] as const)("reads a table in %s", async (encoding) => {
    const { cwd, folder } = someProject();
    const text = "id\tdecision\twhy\np22\texclude\tFüße, keine Hände für Prüfungen.\n";
    writeFileSync(join(cwd, "said.csv"), Buffer.from(encoding === "utf16le" ? `\uFEFF${text}` : text, encoding));
    expect((await cli(["decide", "said.csv", "--no-git"], cwd)).code).toBe(0);
    expect(paperIn(folder, "p22").override?.why).toBe("Füße, keine Hände für Prüfungen.");
  });

  test("takes the numbers of rows, which R writes under no name, for nothing", async () => {
    const { cwd, folder } = someProject();
    writeFileSync(join(cwd, "said.csv"), '"","id","decision","why"\n"1","p22","exclude","Feet."\n');
    expect(await cli(["decide", "said.csv", "--no-git"], cwd)).toMatchObject({ code: 0, err: "" });
    expect(paperIn(folder, "p22").override).toEqual(expect.not.objectContaining({ criterion: "1" }));
    expect(paperIn(folder, "p22").override).toMatchObject({ decision: "exclude", why: "Feet." });
  });

  test("takes of the tool's own export the rows that a person changed", async () => {
    const { cwd, folder } = someProject();
    const { out } = await cli(["report", "--as", "csv"], cwd);
    const table = join(cwd, "records.csv");
    writeFileSync(table, out);
    expect((await cli(["decide", "records.csv", "--no-git"], cwd)).err).toContain("Nothing was changed");
    const [head = "", ...rows] = out.split("\r\n");
    const at = (name: string) => head.replace("\ufeff", "").split(",").indexOf(name);
    const changed = rows.map((row) => {
      const cells = row.split(",");
      if (cells[0] !== "p22") return row;
      cells[at("decision")] = "excluded";
      cells[at("reason")] = '"Feet, not hands"';
      return cells.join(",");
    });
    writeFileSync(table, [head, ...changed].join("\r\n"));
    const { code, out: said } = await cli(["decide", "records.csv", "--no-git"], cwd);
    expect([code, said]).toEqual([0, expect.stringMatching(/^\S+ is excluded\.\n$/)]);
    expect(paperIn(folder, "p22").override).toMatchObject({ decision: "exclude", why: "Feet, not hands" });
  });

  test("takes a table of another program by DOI, PubMed id or the whole title, and the record's key before its id", async () => {
    const { cwd, folder } = someProject();
    change(folder, (rrd) => {
      for (const [index, identifiers] of [{ doi: "10.1000/a" }, { pmid: "12345678" }].entries())
        rrd.papers_pool[index] = { ...(rrd.papers_pool[index] as Paper), identifiers };
    });
    const table =
      "key,DOI,PMID,Title,Decision,Notes\n1,https://doi.org/10.1000/A,,T,Excluded,no\n2,,12345678,T,exclude,no\n3,,,mice,include,yes\n";
    writeFileSync(join(cwd, "said.csv"), table);
    expect(await cli(["decide", "said.csv", "--no-git"], cwd)).toMatchObject({ code: 0, err: "" });
    expect(rrdOf(folder).papers_pool.map(({ override }) => override?.decision)).toEqual([
      "exclude",
      "exclude",
      undefined,
      undefined,
      "include",
    ]);
  });

  test.each([
    [
      "nobody,include,x\np2,include,x\np1,exclude,y\n",
      "2 rows of said.csv name papers that the project does not have: row 2 (nobody), row 3 (p2).",
    ],
    [
      "p1,include,x\np22,include,x\np1,exclude,y\n",
      "Row 4 of said.csv, p1: row 2 decides otherwise on the same paper.",
    ],
    ["p1,include,x\np22,exclude,\n", "Row 3 of said.csv, p22: the reason is missing."],
  ])("refuses %j as a whole, and names the row", async (rows, problem) => {
    const { cwd, folder } = someProject();
    const before = rrdOf(folder);
    writeFileSync(join(cwd, "said.csv"), `id,decision,why\n${rows}`);
    const { code, err } = await cli(["decide", "said.csv", "--no-git"], cwd);
    expect([code, err]).toEqual([2, expect.stringContaining(`${problem} Nothing was written.`)]);
    expect(rrdOf(folder)).toEqual(before);
  });

  test("needs no project where the folder has one, whose papers are named as ever", async () => {
    const { cwd, folder } = someProject();
    expect((await cli(["decide", "p22", "exclude", "Not hands.", "--no-git"], cwd)).code).toBe(0);
    expect(paperIn(folder, "p22").status).toBe("rejected");
    writeFileSync(join(cwd, "said.csv"), "id,decision,why\np22,include,Hands after all.\n");
    expect((await cli(["decide", "said.csv", "--no-git"], cwd)).code).toBe(0);
    expect(paperIn(folder, "p22").status).toBe("pending");
    expect((await cli(["decide", "papr-1", "exclude", "why", "--no-git"], cwd)).err).toContain(
      "Neither a project nor a paper has the name 'papr-1'; the nearest paper is paper-",
    );
    writeFileSync(join(cwd, "said.csv"), "id,decision,why\np1,,\np22,exlude,Feet.\n");
    expect((await cli(["decide", "said.csv", "--no-git"], cwd)).err).toContain(
      "Row 3 of said.csv, p22: the decision is 'exlude'; it must be include, exclude or not-retrieved. Nothing was written.",
    );
    makeResearch(cwd, "other-2026-03-01", {});
    makeResearch(cwd, "a-first-2026-03-01", {});
    expect((await cli(["decide", "p22", "exclude", "why", "--no-git"], cwd)).err).toContain(
      "There are 3 projects here: hands-2026-03-01, a-first-2026-03-01, other-2026-03-01; name one, as in research-ralph decide hands-2026-03-01 p22 exclude why --no-git.",
    );
    expect((await cli(["decide", "hand", "p22x", "exclude", "why", "--no-git"], cwd)).err).toContain("'p22x'");
    expect((await cli(["decide", "p99", "exclude", "why", "--no-git"], cwd)).err).toContain(
      "There is no project 'p99'",
    );
  });

  test("says of a table that is missing or a folder what it is", async () => {
    const { cwd } = someProject();
    mkdirSync(join(cwd, "folder.csv"));
    for (const [name, problem] of [
      ["missing.csv", `There is no file ${join(cwd, "missing.csv")}.`],
      ["folder.csv", `${join(cwd, "folder.csv")} can't be read: EISDIR`],
      ["said.xlsx", "said.xlsx is a workbook, which is not read; save its sheet as CSV and name that file."],
    ] as const)
      expect(await cli(["decide", project, name], cwd)).toMatchObject({
        code: 2,
        err: expect.stringContaining(problem) as string,
      });
  });

  test.each([
    ["id,decision\np1,include\n", "said.csv has no column why; it must have a head"],
    [
      "who,what\np1,include\n",
      "said.csv has no column key, id, doi or title, no column decision, no column why; it must",
    ],
    ["id,decision,why\n", "said.csv has no rows; it must have a head and rows"],
  ])("says which column the table %j does not have", async (table, problem) => {
    const { cwd } = someProject();
    writeFileSync(join(cwd, "said.csv"), table);
    expect(await cli(["decide", "said.csv", "--no-git"], cwd)).toMatchObject({
      code: 2,
      err: expect.stringContaining(problem) as string,
    });
    writeFileSync(join(cwd, "notes.txt"), "");
    expect((await cli(["decide", "notes.txt", "--no-git"], cwd)).err).toContain(
      "notes.txt is a file and not a project;",
    );
  });

  test("of a parted duplicate waits for the run that screens it", async () => {
    const { cwd, folder } = someProject();
    expect((await cli(["join", project, "d1", "--part", "--no-git"], cwd)).code).toBe(0);
    const before = rrdOf(folder);
    const { code, err } = await cli(["decide", project, "d1", "include", "why", "--no-git"], cwd);
    expect([code, err]).toEqual([
      2,
      expect.stringContaining("twice is not screened yet, so there is nothing to decide;"),
    ]);
    expect(err).toContain("screens it by itself");
    expect(rrdOf(folder)).toEqual(before);
  });

  test.each<[string[], RegExp]>([
    [["p1", "include", "It is one.", "--criterion", "c1"], /goes with papers and 'exclude'/],
    [["p1", "exclude", "--criterion", "c9"], /no criterion 'c9' in .*; it has c1, c2/],
    [["p9", "include", "why"], /There is no paper 'p9' in .*status/],
    [["p2", "include", "why"], /'p2' fits 2 papers: paper-2 \(Paper p22\), paper-3 \(Paper p23\)/],
    [["", "include", "why"], /There is no paper ''/],
    [["p1", "maybe", "why"], /must be include, exclude or not-retrieved/],
    [["p1", "include", "  "], /The reason is empty/],
    [["p1", "include", "w".repeat(1_001)], /1001 characters/],
    [["p23", "include", "why"], /is retracted/],
    [["d1", "include", "why"], /twice is the same work as paper; .*research-ralph join .* --part/],
    [["p1"], /Name papers, the decision and the reason/],
    [["p1", "include"], /The reason is missing; give it in quotes after 'include'/],
    [["p1", "p2", "exclude"], /The reason is missing/],
    [["p1", "maybe"], /'maybe' is not one of the decisions include, exclude and not-retrieved/],
  ])("that can't be is refused: %j", async (args, said) => {
    const { cwd, folder } = someProject();
    const before = readFileSync(join(folder, "rrd.json"), "utf8");
    expect(await cli(["decide", project, ...args, "--no-git"], cwd)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringMatching(said),
    });
    expect(readFileSync(join(folder, "rrd.json"), "utf8")).toBe(before);
  });

  test("is a person's alone", async () => {
    const { cwd } = someProject();
    expect((await cli(["decide", project, "p1", "include", "why"], cwd, { [markVariable]: "1-abc" })).code).toBe(5);
  });

  test("during a run is left for it; a paper that is gone by then is named", async () => {
    const { cwd, folder } = someProject();
    const running = await openResearch(folder, { derive, git: false, notify: () => undefined });
    for (const id of ["p1", "p22"]) {
      const left = await cli(["decide", project, id, "exclude", "Not it."], cwd);
      expect(left).toMatchObject({ code: 0, out: expect.stringContaining("takes the decision before its next") });
    }
    expect(paperIn(folder, "p1").status).toBe("pending");
    await running.close();
    change(folder, (rrd) => {
      rrd.papers_pool = rrd.papers_pool.filter(({ id }) => id !== "p22");
    });
    const run = await cli(["run", project, ...withUnitAgent, "-i", "1"], cwd);
    expect(run.err).toContain("Decided: exclude p1 (Not it.).");
    expect(run.err).toContain("There is no paper p22 any more, so the decision to exclude it was dropped.");
    expect(paperIn(folder, "p1")).toMatchObject({ status: "rejected", override: { decision: "exclude" } });
    expect(readFileSync(join(folder, "progress.txt"), "utf8")).toContain("Decided: exclude p1 (Not it.).");
  });
});

describe("validate names what is wrong with criteria and decisions", () => {
  test.each<[(rrd: Rrd) => void, number, RegExp]>([
    [
      (rrd) => void (rrd.requirements.criteria = [criteria[0]!, criteria[0]!]),
      1,
      /\/requirements\/criteria\/1\/id: "c1" is the id of/,
    ],
    [
      (rrd) => void (rrd.requirements.criteria = [{ id: "c1", kind: "include", text: "x".repeat(5_000) }]),
      1,
      /\/requirements\/criteria\/0\/text: .*1000/,
    ],
    [
      (rrd) => void (rrd.papers_pool[0]!.answers = [{ criterion: "c9", stage: "screening", answer: "yes" }]),
      0,
      /warning: rrd\.json:\d+ \/papers_pool\/0\/answers: name c9, not a criterion/,
    ],
    [
      (rrd) => void (rrd.papers_pool[0]!.status = "presented"),
      0,
      /is presented without an answer to c1, c2; 'reset --criteria'/,
    ],
    [(rrd) => void (rrd.papers_pool[0]!.excluded_by = "c7"), 0, /names c7, not a criterion/],
    [
      (rrd) => void (rrd.papers_pool[0]!.override = { decision: "exclude", why: "No." }),
      0,
      /takes effect with the next run/,
    ],
    [
      (rrd) => void ((rrd.excluded ?? [])[1]!.override = { decision: "include", why: "No." }),
      0,
      /\/excluded\/1\/override: has no effect on what was excluded as duplicate/,
    ],
    [(rrd) => void (rrd.papers_pool[0]!.override = { decision: "maybe" } as never), 1, /\/papers_pool\/0\/override/],
  ])("case %#", async (edit, code, said) => {
    const { cwd, folder } = someProject();
    change(folder, edit);
    const { out, code: is } = await cli(["validate", project], cwd);
    expect(out).toMatch(said);
    expect(is).toBe(code);
  });
});

describe("a decision that is taken back", () => {
  test("leaves the record as it was before, of a paper and of a record that screening excluded", async () => {
    const { cwd, folder } = someProject();
    const records = () => {
      const { papers_pool: pool, excluded = [] } = rrdOf(folder);
      return { pool, excluded: excluded.toSorted((a, b) => a.id.localeCompare(b.id)) };
    };
    expect((await cli(["decide", "p1", "exclude", "a wish"], cwd)).code).toBe(0);
    expect((await cli(["decide", "p1", "undo"], cwd)).code).toBe(0);
    const before = records();
    expect(before.pool[0]).toMatchObject({ id: "p1", status: "pending" });
    expect(before.pool[0]?.override).toBeUndefined();
    expect((await cli(["decide", "p1", "exclude", "no hands"], cwd)).code).toBe(0);
    expect((await cli(["decide", "x1", "include", "it has hands"], cwd)).code).toBe(0);
    expect(records()).not.toEqual(before);
    expect(await cli(["decide", "p1", "x1", "undo"], cwd)).toMatchObject({
      code: 0,
      out: "The decision on paper is taken back.\nThe decision on mice is taken back.\n",
    });
    expect(records()).toEqual(before);
  });

  test("is refused for a paper without one, and for a paper that was read after it", async () => {
    const { cwd, folder } = someProject();
    expect(await cli(["decide", "p22", "undo"], cwd)).toMatchObject({
      code: 2,
      err: expect.stringContaining("No person has decided on paper-2"),
    });
    await cli(["decide", "p1", "include", "it has hands"], cwd);
    change(folder, (rrd) => {
      rrd.papers_pool = rrd.papers_pool.map((each) => (each.id === "p1" ? { ...each, iteration: 3 } : each));
    });
    expect(await cli(["decide", "p1", "undo"], cwd)).toMatchObject({
      code: 2,
      err: expect.stringContaining("was read after the decision"),
    });
  });
});
