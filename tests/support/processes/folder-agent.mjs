#!/usr/bin/env node
// A command agent that edits a research folder itself, one step a run, as the agents of the original did. VICE names a bad habit.
import { appendFileSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Takes one step of what `prompt` asks for, and yields what it prints.
 * @param {string} prompt
 * @param {string} _workspace
 * @param {NodeJS.ProcessEnv} env
 */
export async function* work(prompt, _workspace, { RECORD, VICE }) {
  if (RECORD !== undefined) writeFileSync(RECORD, prompt);
  const folder = /`(\/[^`\n]*)\/rrd\.json`/.exec(prompt)[1];
  const path = join(folder, "rrd.json");
  const progress = join(folder, "progress.txt");
  const rrd = JSON.parse(readFileSync(path, "utf8"));
  const save = (entry) => {
    writeFileSync(path, JSON.stringify(rrd, null, 2));
    appendFileSync(progress, `---\n\n## ${entry}\n`);
  };
  const finish = "<promise>COMPLETE</promise>";

  const discover = () => {
    for (const n of [1, 2, 3]) {
      rrd.papers_pool.push({
        ...{
          id: `arxiv_2401.0000${n}`,
          title: `Paper ${n}`,
          url: `https://arxiv.org/abs/2401.0000${n}`,
          authors: ["A"],
          date: "2026-01-01",
          source: "arXiv",
        },
        ...{
          priority: n,
          status: "pending",
          score: null,
          score_breakdown: null,
          analysis: null,
          decision: null,
          notes: "",
        },
      });
    }
    rrd.phase = "ANALYSIS";
    save("Discovery");
  };

  const analyse = (paper) => {
    const execution = { novelty: 4, feasibility: 3, time_to_poc: 3, value_market: 4, defensibility: 3, adoption: 4 };
    const blue_ocean = { market_creation: 4, first_mover_window: 3, network_effects: 3, strategic_clarity: 4 };
    const analysis = {
      summary: "s",
      methodology: "m",
      results: "r",
      implementations_found: [],
      commercialized: false,
      limitations: "l",
    };
    Object.assign(paper, { status: "presented", score: 35, decision: "PRESENT", analysis, notes: "Good." });
    paper.score_breakdown = { execution, blue_ocean, execution_total: 21, blue_ocean_total: 14, combined_total: 35 };
    rrd.insights = [
      ...(rrd.insights ?? []),
      { id: `insight_${paper.id}`, paper_id: paper.id, insight: "i", tags: [], cross_refs: [] },
    ];
    rrd.statistics = { total_presented: 99 };
    if (VICE === "drops") rrd.papers_pool = rrd.papers_pool.filter((each) => each.status === "presented");
    if (VICE === "forgets")
      Object.assign(rrd, {
        insights: [],
        papers_pool: rrd.papers_pool.map((each) =>
          each === paper ? each : { ...each, status: "pending", analysis: null },
        ),
      });
    if (VICE === "rejudges")
      Object.assign(
        rrd.papers_pool.find((each) => each !== paper && each.status === "presented"),
        { status: "rejected", decision: "REJECT", score: 3 },
      );
    if (VICE === "invents") paper.status = "glanced at";
    save(`Paper: ${paper.title}`);
    if (VICE === "truncates") writeFileSync(path, readFileSync(path, "utf8").slice(0, 400));
    if (VICE === "deletes") unlinkSync(path);
    if (VICE === "rewrites") writeFileSync(progress, "# A fresh start\n");
  };

  const report = () => {
    if (VICE !== "forgoes") writeFileSync(join(folder, "research-report.md"), "# Report\n");
    rrd.phase = "IDEATION";
    save("Report");
  };

  const ideate = () => {
    writeFileSync(
      join(folder, "product-ideas.json"),
      JSON.stringify({ schema_version: "1.0", project: rrd.project, ideas: [] }),
    );
    rrd.phase = "COMPLETE";
    save("Ideas");
    return ["All done.", "", finish];
  };

  const pending = rrd.papers_pool
    .filter(({ status }) => status === "pending")
    .toSorted((a, b) => b.priority - a.priority);
  if (VICE === "boasts") {
    rrd.phase = "COMPLETE";
    save("Done, I think");
    yield finish;
  } else if (rrd.phase === "DISCOVERY") discover();
  else if (rrd.phase === "ANALYSIS" && pending.length > 0)
    for (const paper of pending.slice(0, VICE === "hurries" ? 2 : 1)) analyse(paper);
  else if (rrd.phase === "ANALYSIS") report();
  else if (rrd.phase === "IDEATION") yield* ideate();
  else yield finish;
  if (VICE === "claims") yield finish;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for await (const line of work(readFileSync(0, "utf8"), process.cwd(), process.env)) console.log(line);
