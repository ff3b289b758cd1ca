import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { main } from "../../../src/commands/main.js";
import type { Criterion, Paper, Rrd } from "../../../src/research/generated/rrd.js";
import type { Keyboard } from "../../../src/engine/ui/terminal/keyboard.js";
import { cli, ioIn } from "../../support/processes/in-process.js";
import { freshFolder, makeResearch, paper } from "../../support/projects/research-folder.js";

const project = "hands-2026-03-01";
const criteria: Criterion[] = [
  { id: "c1", kind: "include", text: "robot hands" },
  { id: "c2", kind: "exclude", text: "animal study" },
];
const readings: NonNullable<Paper["readings"]> = [
  { role: "reader-1", by: "a", decision: "include", reason: "fits" },
  { role: "reader-2", by: "b", decision: "exclude", reason: "mice" },
];
const unclear: NonNullable<Paper["answers"]> = [{ criterion: "c2", stage: "full_text", answer: "unclear" }];

function place(): { cwd: string; rrd: () => Rrd; of: (id: string) => Paper | undefined } {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, project, {
    requirements: { target_papers: 4, criteria, keywords: ["grasp"] },
    papers_pool: [
      paper("p1", "waiting", { readings, abstract: "We grasp tools with five fingers." }),
      paper("p2", "waiting", { answers: unclear }),
      paper("p3", "waiting", { answers: unclear }),
      paper("p4", "presented"),
    ],
    excluded: [{ id: "x1", title: "Mice", reason: "excluded by c2", stage: "screened", criterion: "c2" }],
  });
  const rrd = () => JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
  return { cwd, rrd, of: (id) => rrd().papers_pool.find((each) => each.id === id) };
}

/** A person who presses these keys, whatever is shown. */
const pressing = (keys: readonly string[]): Keyboard => ({
  listen(onKey) {
    for (const key of keys) onKey(key);
    return () => undefined;
  },
  send: () => undefined,
});

async function screen(
  cwd: string,
  keys: string,
  ...flags: string[]
): Promise<{ code: number; out: string; err: string }> {
  const io = ioIn(cwd, {}, { keyboard: pressing([...keys]), columns: 60 });
  const code = await main(["screen", project, "--no-git", ...flags], io, "0.0.0");
  return { code, out: io.out(), err: io.err() };
}

describe("screen", () => {
  test("takes a key for each decision, and names the criterion that excludes", async () => {
    const { cwd, of, rrd } = place();
    const { code, out, err } = await screen(cwd, "ix2\riq");
    expect([code, err]).toEqual([0, expect.stringContaining("3 decisions; nothing waits for you")]);
    expect(out).toContain("We *grasp* tools with five fingers.");
    expect(out).toContain("b would exclude it: mice");
    expect(of("p1")?.override).toMatchObject({ decision: "include" });
    expect(of("p2")).toMatchObject({ status: "rejected", override: { decision: "exclude", criterion: "c2" } });
    expect(of("p3")?.override?.decision).toBe("include");
    expect(rrd().statistics?.discovery_metrics?.flow?.screening?.excluded).toEqual({ c2: 2 });
  });

  test("takes a decision back, to the byte of the record", async () => {
    const { cwd, of } = place();
    const before = of("p1");
    await screen(cwd, "x1\ruq");
    expect(of("p1")).toEqual({ ...before, key: "paper" });
  });

  test("brings a record that screening left out back into the pool, and takes that back too", async () => {
    const { cwd, of, rrd } = place();
    const excluded = rrd().excluded;
    await screen(cwd, "ssssiq", "--all");
    expect([of("x1")?.status, rrd().excluded]).toEqual(["pending", []]);
    const again = place();
    await screen(again.cwd, "ssssiuq", "--all");
    expect([again.of("x1"), again.rrd().excluded]).toMatchObject([undefined, excluded ?? []]);
  });

  test("goes on where the person left off, with what was put off last and notes kept", async () => {
    const { cwd, of } = place();
    await screen(cwd, "mnlook\rq");
    const { out } = await screen(cwd, "q");
    expect(out).toContain("1 of 3 · 0 decided, 1 maybe · paper-2");
    expect(out).toContain("Your note: look");
    await screen(cwd, "iiq");
    expect(of("p2")?.override?.why).toBe("look");
    expect(of("p1")?.override).toBeUndefined();
    expect((await screen(cwd, "q")).out).toContain("1 of 1 · 0 decided, 1 maybe · paper you said maybe");
  });

  test("a maybe is told and counted, comes at the end of this list, and undo takes it back before an earlier decision", async () => {
    const { cwd, of } = place();
    const { out, err } = await screen(cwd, "x2\rmq");
    expect(out).toContain("Maybe: paper-2 comes at the end of the list.");
    expect(out).toContain("2 of 3 · 1 decided, 1 maybe · paper-3");
    expect(err).toContain("1 decision, 1 maybe; 2 records left.");
    const again = place();
    const undone = await screen(again.cwd, "x2\rmuq");
    expect(undone.out).toContain("Taken back: paper-2.");
    expect(undone.err).toContain("1 decision; 2 records left.");
    expect(again.of("p1")?.override?.decision).toBe("exclude");
    expect((await screen(place().cwd, "muiiiq")).err).toContain("3 decisions; nothing waits for you");
    expect(of("p2")?.override).toBeUndefined();
  });

  test("takes a reason that is typed in place of a criterion's number, and asks again for an empty one", async () => {
    const { cwd, of } = place();
    const { out } = await screen(cwd, "x2 mice, no hands\rx\rnot hands\rx\u001bq");
    expect(of("p1")?.override).toMatchObject({ decision: "exclude", why: "2 mice, no hands" });
    expect(of("p2")?.override).toMatchObject({ decision: "exclude", why: "not hands" });
    expect(of("p3")?.override).toBeUndefined();
    expect(out).toContain("A reason is needed; Esc goes back.");
  });

  test("refuses a number that names no criterion, and asks again", async () => {
    const { cwd, of } = place();
    const { out } = await screen(cwd, "x9\r0\r2.\r2\rx9\u001b\u001bq");
    expect(of("p1")?.override).toMatchObject({ decision: "exclude", criterion: "c2" });
    expect(of("p2")?.override).toBeUndefined();
    for (const typed of ["9", "0", "2."])
      expect(out.replace(/\s+/g, " ")).toContain(
        `${typed} names no criterion; type 1 or 2, or a reason in words. Esc goes back.`,
      );
  });

  test.each(["x\u0003", "xbad\u0003", "nlook\u0003"])("Ctrl+C ends it while a text is typed too: %j", async (keys) => {
    const { cwd, of } = place();
    const { err } = await screen(cwd, `${keys}iii`);
    expect(err).toContain("0 decisions");
    expect(of("p1")?.override).toBeUndefined();
  });

  test("shows what was read in the text beside the abstract, why a criterion is unclear, and what the key a did", async () => {
    const cwd = freshFolder();
    const evidence = [
      { claim: "It fell.", passage: "Electric use fell.", quoted: "0-18", status: "verified" as const, locator: null },
    ];
    const read = { abstract: "We grasp.", answers: unclear, analysis: { summary: "Heat pumps.", evidence } };
    makeResearch(cwd, project, {
      requirements: { target_papers: 4, criteria },
      papers_pool: [paper("p1", "waiting", read)],
    });
    const { out } = await screen(cwd, "aq");
    for (const shown of [
      "We grasp.",
      "Heat pumps.",
      "  “Electric use fell.”",
      "the agent was not sure",
      "all of the record",
    ])
      expect(out.replace(/\s+/g, " ")).toContain(shown.trim());
    expect(out.replace(/\s+/g, " ")).toContain(`research-ralph show ${project} paper`);
  });

  test("writes a line that is longer than the terminal within one line", async () => {
    const { cwd } = place();
    const { out } = await screen(cwd, `x${"long reason ".repeat(10)}\u007f\rq`);
    const typed = out.split(/[\r\n]/).filter((line) => line.startsWith("Why is it excluded?"));
    expect(typed.length).toBeGreaterThan(100);
    expect(Math.max(...typed.map((line) => line.trimEnd().length))).toBeLessThan(60);
    expect(typed.at(-1)).toContain("…");
  });

  test("counts the marks of keywords in the width of a line", async () => {
    const cwd = freshFolder();
    makeResearch(cwd, project, {
      requirements: { target_papers: 4, keywords: ["grasp"] },
      papers_pool: [paper("p1", "waiting", { abstract: "a grasp of tools ".repeat(20) })],
    });
    const { out } = await screen(cwd, "q");
    expect(
      Math.max(...out.split("\n").map((line) => line.replaceAll("\u001b[2J\u001b[3J\u001b[H", "").length)),
    ).toBeLessThan(60);
  });

  test("shows what was read of a document without an abstract, and its file", async () => {
    const cwd = freshFolder();
    const passage = "Electric use fell by 38 percent.";
    const evidence = [{ claim: "It fell.", passage, quoted: "0-32", status: "verified" as const, locator: null }];
    makeResearch(cwd, project, {
      papers_pool: [
        paper("p1", "presented", {
          abstract: null,
          document: { path: "../../notes/heat.md", sha256: "0".repeat(64) },
          analysis: { summary: "Heat pumps in cold houses.", evidence },
        }),
      ],
    });
    const { out } = await screen(cwd, "q", "--all");
    for (const shown of ["heat.md", "Heat pumps in cold houses.", `  “${passage}”`]) expect(out).toContain(shown);
    expect(out).not.toContain("is not known");
  });

  test.each([
    ["--conflicts", ["p1"]],
    ["--unclear", ["p2", "p3"]],
    ["--all", ["p1", "p2", "p3", "p4", "x1"]],
  ])("%s lists those alone", async (flag, ids) => {
    const { cwd } = place();
    const { out } = await cli(["screen", project, flag, "--json"], cwd);
    expect((JSON.parse(out) as { records: { id: string }[] }).records.map(({ id }) => id)).toEqual(ids);
  });

  test("keeps the title on a screen that a long abstract does not fit, and shows all of it on a key", async () => {
    const cwd = freshFolder();
    const abstract = Array.from({ length: 400 }, (_, index) => `word${index}`).join(" ");
    makeResearch(cwd, project, {
      requirements: { target_papers: 4, criteria },
      papers_pool: [paper("p1", "waiting", { readings, abstract, title: "Hands that grasp" })],
    });
    const io = ioIn(cwd, {}, { keyboard: pressing(["a", "q"]), columns: 60, rows: 20 });
    await main(["screen", project, "--no-git"], io, "0.0.0");
    const [short = "", whole = ""] = io.out().split("\u001b[2J\u001b[3J\u001b[H").slice(1);
    expect(short.split("\n").length).toBeLessThanOrEqual(20);
    expect(short).toMatch(/Hands that grasp[^]*more lines: a shows all[^]*would exclude it: mice[^]*include/);
    expect(whole).toContain("word399");
  });

  test("without a name takes the only one of several projects that has something waiting, and says so", async () => {
    const { cwd, of } = place();
    makeResearch(cwd, "other-2026-03-01", { papers_pool: [paper("o1", "presented")] });
    const io = ioIn(cwd, {}, { keyboard: pressing(["i", "q"]), columns: 60 });
    expect(await main(["screen", "--no-git"], io, "0.0.0")).toBe(0);
    expect(io.err()).toContain(`Only ${project} has records for this list; they are shown.`);
    expect(of("p1")?.override?.decision).toBe("include");
    makeResearch(cwd, "third-2026-03-01", { papers_pool: [paper("o1", "waiting")] });
    expect(await cli(["screen"], cwd)).toMatchObject({ code: 2, err: expect.stringContaining("name one") });
  });

  test("without a terminal says what to do instead", async () => {
    const { cwd } = place();
    expect(await cli(["screen", project], cwd)).toMatchObject({
      code: 2,
      err: expect.stringContaining("decide takes a CSV"),
    });
  });
});

describe("decide", () => {
  test("takes several papers, all or none", async () => {
    const { cwd, of } = place();
    expect((await cli(["decide", project, "p1", "nothing", "exclude", "mice", "--no-git"], cwd)).code).toBe(2);
    expect(of("p1")?.override).toBeUndefined();
    expect((await cli(["decide", project, "p1", "p2", "exclude", "mice", "--no-git"], cwd)).code).toBe(0);
    expect(["p1", "p2"].map((id) => of(id)?.override?.why)).toEqual(["mice", "mice"]);
  });

  test("takes a table, whose rows without a decision are left open", async () => {
    const { cwd, of } = place();
    writeFileSync(
      join(cwd, "mine.csv"),
      '\ufeffID;Decision;Why;Criterion\np1;exclude;"mice; no hands";c2\np2;;;\np3;Include;it fits;\n',
    );
    const { code, out, err } = await cli(["decide", project, "mine.csv", "--no-git"], cwd);
    expect({ code, out, err }).toMatchObject({ code: 0, out: expect.stringContaining("paper is excluded") });
    expect(of("p1")?.override).toMatchObject({ decision: "exclude", why: "mice; no hands", criterion: "c2" });
    expect([of("p2")?.override, of("p3")?.override?.decision]).toEqual([undefined, "include"]);
    writeFileSync(join(cwd, "mine.csv"), "a,b\n1,2\n");
    expect((await cli(["decide", project, "mine.csv"], cwd)).err).toContain("columns key, id, doi or title");
  });
});
