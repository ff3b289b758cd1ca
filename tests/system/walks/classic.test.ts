import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { withWorkspace, workspaceOf } from "../../../src/research/workflow/brief/front-matter.js";
import { originalPrompt } from "../../fixtures/original-folders.js";
import { folderAgent } from "../../support/processes/command-agents.js";
import { cli } from "../../support/processes/in-process.js";
import { freshFolder, makeResearch } from "../../support/projects/research-folder.js";

const agent = folderAgent;
const small = "# Agent\n\nRead `{{RESEARCH_DIR}}/rrd.json` and do what its phase asks for.\n";

function classicFolder(prompt = small): { cwd: string; folder: string } {
  const cwd = freshFolder();
  writeFileSync(join(cwd, "prompt.md"), prompt);
  const folder = makeResearch(cwd, "a-2026-03-01", {
    phase: "DISCOVERY",
    mission: { blue_ocean_scoring: true },
    requirements: { target_papers: 3 },
    handoff: { product_ideation: { enabled: true } },
  });
  writeFileSync(join(folder, "progress.txt"), "# Log\n");
  return { cwd, folder };
}

const run = (cwd: string, iterations: number, env: Record<string, string> = {}) =>
  cli(["run", "--classic", "--quiet", "--no-git", "-i", String(iterations), "--agent", agent], cwd, env);
const rrdOf = (folder: string): Rrd => JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
const ledgerOf = (folder: string): LedgerLine[] =>
  readFileSync(join(folder, "ledger.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as LedgerLine);
const last = (folder: string) => ledgerOf(folder).at(-1);
const statuses = (folder: string) =>
  rrdOf(folder)
    .papers_pool.map(({ status }) => status)
    .sort();

/** A research in ANALYSIS with one of three papers read, and what one more iteration with a bad habit makes of it. */
async function after(vice: string) {
  const { cwd, folder } = classicFolder();
  await run(cwd, 2);
  expect(statuses(folder)).toEqual(["pending", "pending", "presented"]);
  const before = { rrd: rrdOf(folder), log: readFileSync(join(folder, "progress.txt"), "utf8") };
  const ended = await run(cwd, 1, { VICE: vice });
  return { cwd, folder, before, ended };
}

describe("a research by agents that edit the folder themselves", () => {
  test("goes from DISCOVERY to COMPLETE, its counts derived and its ledger kept, and a finished one starts no agent", async () => {
    const { cwd, folder } = classicFolder();
    expect(await run(cwd, 20)).toMatchObject({
      code: 0,
      out: `${join(folder, "report.html")}\n<promise>COMPLETE</promise>\n`,
    });
    expect(rrdOf(folder)).toMatchObject({
      phase: "COMPLETE",
      statistics: { total_presented: 3, total_analyzed: 3, total_insights: 3 },
    });
    expect(
      ledgerOf(folder).map(({ unit, outcome, phase, confinement }) => [unit, outcome, phase, confinement]),
    ).toEqual(
      [
        ["classic", "DISCOVERY"],
        ["classic", "ANALYSIS"],
        ["classic", "ANALYSIS"],
        ["classic", "ANALYSIS"],
        ["report", "ANALYSIS"],
        ["ideas", "IDEATION"],
      ].map(([unit, phase]) => [unit, "accepted", phase, "unconfined"]),
    );
    expect(last(folder)?.sentinel).toBe("seen");
    const record = join(cwd, "record.txt");
    expect((await run(cwd, 20, { RECORD: record })).code).toBe(0);
    expect(existsSync(record)).toBe(false);
  });

  test("a prompt of the original's kind runs unchanged, and brief prints what the agent gets", async () => {
    const { cwd, folder } = classicFolder(withWorkspace(originalPrompt, "folder"));
    const brief = await cli(["brief"], cwd);
    const record = join(cwd, "record.txt");
    expect((await cli(["run", "--trust", "--quiet", "--no-git", "--agent", agent], cwd, { RECORD: record })).code).toBe(
      0,
    );
    expect(rrdOf(folder).phase).toBe("COMPLETE");
    expect(readFileSync(record, "utf8")).toBe(brief.out);
    expect(brief.out).toBe(originalPrompt.replaceAll("{{RESEARCH_DIR}}", folder));
  });

  test("a failed run of the agent costs nothing of what was there", async () => {
    const { cwd, folder } = classicFolder();
    await run(cwd, 2);
    const before = rrdOf(folder);
    const { code } = await cli(
      ["run", "--classic", "--quiet", "--no-git", "-i", "1", "--agent", `cmd:echo '{' > ${folder}/rrd.json; exit 1`],
      cwd,
    );
    expect({ code, failure: last(folder)?.failure, papers: rrdOf(folder).papers_pool }).toEqual({
      code: 3,
      failure: "crashed",
      papers: before.papers_pool,
    });
  });
});

describe("what such an agent breaks is put back", () => {
  test.each([
    ["truncates", "rrd.json was left broken"],
    ["deletes", "rrd.json was left deleted"],
    ["invents", "/papers_pool/1/status"],
  ])(
    "an agent that %s rrd.json is refused, the last version is back, and the next one goes on",
    async (vice, reason) => {
      const { cwd, folder, before } = await after(vice);
      expect(last(folder)).toMatchObject({ outcome: "refused", reasons: [expect.stringContaining(reason)] });
      expect(rrdOf(folder).papers_pool).toEqual(before.rrd.papers_pool);
      expect(readdirSync(folder).filter((name) => name.startsWith("rrd.json.broken-"))).toHaveLength(
        vice === "deletes" ? 0 : 1,
      );
      expect((await run(cwd, 20)).code).toBe(0);
    },
  );

  test("papers that an agent drops are put back beside what it did, and the iteration is refused", async () => {
    const { folder } = await after("drops");
    expect(statuses(folder)).toEqual(["pending", "presented", "presented"]);
    expect(last(folder)).toMatchObject({ outcome: "refused", reasons: [expect.stringContaining("1 paper removed")] });
  });

  test("analyses and insights that an agent wipes out are put back", async () => {
    const { folder, before } = await after("forgets");
    expect(statuses(folder)).toEqual(["pending", "presented", "presented"]);
    expect(rrdOf(folder).insights).toEqual(before.rrd.insights);
    expect(last(folder)?.reasons).toEqual([expect.stringContaining("1 analysis removed, 1 insight removed")]);
  });

  test("a decided paper that an agent judges anew keeps its decision and scores, and the new reading counts", async () => {
    const { folder, before } = await after("rejudges");
    const decided = before.rrd.papers_pool.find(({ status }) => status === "presented");
    expect(rrdOf(folder).papers_pool.find(({ id }) => id === decided?.id)).toEqual(decided);
    expect(statuses(folder)).toEqual(["pending", "presented", "presented"]);
    expect(last(folder)?.reasons).toEqual([expect.stringContaining("1 decided paper judged anew")]);
  });

  test("of several papers that an agent decides in one iteration one counts, and the others are read again", async () => {
    const { folder, before, ended } = await after("hurries");
    expect(statuses(folder)).toEqual(["pending", "presented", "presented"]);
    expect(rrdOf(folder).insights).toHaveLength((before.rrd.insights ?? []).length + 1);
    expect(last(folder)).toMatchObject({ outcome: "accepted" });
    expect(ended.err).toContain("2 papers were decided in one iteration");
  });

  test("prompt.md is read for each brief", async () => {
    const { cwd, folder } = classicFolder();
    const record = join(cwd, "record.txt");
    const change = `cmd:cat > ${record}; echo 'Another prompt of {{RESEARCH_DIR}}.' >> ${join(cwd, "prompt.md")}; echo 'a note' >> ${join(folder, "notes.txt")}`;
    await cli(["run", "-i", "2", "--classic", "--agent", change, "--unconfined", "--no-git"], cwd);
    expect(readFileSync(record, "utf8")).toContain(`Another prompt of ${folder}.`);
  });

  test("the baseline agent, which answers briefs only, is refused before anything is touched", async () => {
    const { cwd, folder } = classicFolder();
    const ended = await cli(["run", "--classic", "--agent", "baseline"], cwd);
    expect({ code: ended.code, ledger: existsSync(join(folder, "ledger.jsonl")) }).toEqual({ code: 2, ledger: false });
    expect(ended.err).toContain("baseline cannot work in classic mode");
  });

  test("a rewritten progress.txt is undone and kept aside; the work itself counts", async () => {
    const { folder, before, ended } = await after("rewrites");
    expect(readFileSync(join(folder, "progress.txt"), "utf8")).toBe(before.log);
    expect(ended.err).toContain("warning: progress.txt was rewritten");
    const kept = readdirSync(folder).find((name) => name.startsWith("progress.txt.rewritten-")) ?? "none";
    expect(readFileSync(join(folder, kept), "utf8")).toBe("# A fresh start\n");
    expect(last(folder)?.outcome).toBe("accepted");
  });
});

describe("files decide, not what an agent says", () => {
  test("a sentinel with papers pending is a false claim; the work of the iteration counts", async () => {
    const { folder, ended } = await after("claims");
    expect(last(folder)).toMatchObject({ outcome: "accepted", sentinel: "false-claim" });
    expect({ code: ended.code, phase: rrdOf(folder).phase }).toEqual({ code: 3, phase: "ANALYSIS" });
  });

  test("COMPLETE with papers pending is set back to ANALYSIS", async () => {
    const { cwd, folder } = await after("boasts");
    expect(last(folder)).toMatchObject({
      outcome: "refused",
      sentinel: "false-claim",
      reasons: [expect.stringContaining("phase COMPLETE is not supported by the files")],
    });
    expect(rrdOf(folder).phase).toBe("ANALYSIS");
    expect((await run(cwd, 20)).code).toBe(0);
  });

  test("IDEATION without a report, and COMPLETE without the ideas, are set back to the phase whose work is missing", async () => {
    const { cwd, folder } = classicFolder();
    await run(cwd, 4);
    await run(cwd, 1, { VICE: "forgoes" });
    expect(rrdOf(folder).phase).toBe("ANALYSIS");
    await run(cwd, 1);
    expect(rrdOf(folder).phase).toBe("IDEATION");
    await run(cwd, 1, { VICE: "boasts" });
    expect({ phase: rrdOf(folder).phase, outcome: last(folder)?.outcome }).toEqual({
      phase: "IDEATION",
      outcome: "refused",
    });
    expect((await run(cwd, 20)).code).toBe(0);
  });

  test("without .ralph, as in a clone, the research goes on without a warning about what is lost", async () => {
    const { cwd, folder } = classicFolder();
    await run(cwd, 3);
    rmSync(join(folder, ".ralph"), { recursive: true });
    const { code, err } = await run(cwd, 20);
    expect({ code, err }).toEqual({ code: 0, err: expect.not.stringContaining("journal") });
  });
});

describe("which way a prompt.md asks for", () => {
  test("its front matter decides; the original's placeholder alone leaves it open, parts of ours do not", () => {
    expect(workspaceOf(`---\nworkspace: folder\n---\n${small}`)).toBe("folder");
    expect(workspaceOf(`---\nworkspace: "fresh"\n---\n${small}`)).toBe("fresh");
    expect(workspaceOf(small)).toBe("open");
    expect(workspaceOf(`# ANALYSIS\n\nIn {{RESEARCH_DIR}}.\n`)).toBe("fresh");
  });

  test("a choice is written into the front matter and the rest of it stays", () => {
    expect(withWorkspace(small, "folder")).toBe(`---\nworkspace: folder\n---\n${small}`);
    expect(withWorkspace(`---\ntitle: mine\nworkspace: fresh\n---\n${small}`, "folder")).toBe(
      `---\ntitle: mine\nworkspace: folder\n---\n${small}`,
    );
  });

  test("--classic without a prompt.md is wrong usage: exit 2", async () => {
    const cwd = freshFolder();
    mkdirSync(join(cwd, "researches"));
    makeResearch(cwd, "a-2026-03-01");
    expect(await run(cwd, 1)).toMatchObject({
      code: 2,
      err: expect.stringContaining("--classic needs the original's prompt.md"),
    });
  });
});
