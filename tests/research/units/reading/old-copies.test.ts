import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Rrd } from "../../../../src/research/generated/rrd.js";
import { goodAgent, library, paper, researchFolder, rrdWith } from "../../../support/projects/research.js";
import type { Library } from "../../../../src/research/units/unit-kind.js";

/** What was found, read and decided, without the numbers of iterations. */
const results = ({ phase, papers_pool, insights }: Rrd) => ({
  phase,
  papers: papers_pool.map(({ iteration: _, ...rest }) => rest),
  insights: (insights ?? [])
    .map(({ id: _, ...rest }) => rest)
    .toSorted((a, b) => (a.paper_id ?? "").localeCompare(b.paper_id ?? "")),
});

describe("an old copy of rrd.json, saved by somebody once the research is done", () => {
  it("from before any iteration whatever comes to the same end with the next run, and a run after that has nothing to do", async () => {
    const rrd = rrdWith([paper("p1"), paper("p2")], { handoff: { product_ideation: { enabled: true } } });
    const folder = researchFolder(rrd);
    const path = join(folder.folder, "rrd.json");
    const copies: string[] = [];
    const copying = goodAgent(() => {
      copies.push(readFileSync(path, "utf8"));
      return undefined;
    });
    const first = await folder.run(copying);
    expect(first.verdict).toMatchObject({ verdict: "complete" });
    expect(copies).toHaveLength(4);

    for (const copy of copies) {
      writeFileSync(path, copy);
      const again = await folder.run(goodAgent());
      expect(again.verdict).toMatchObject({ verdict: "complete" });
      expect(results(again.rrd)).toEqual(results(first.rrd));
      expect(again.rrd.statistics?.total_analyzed).toBe(2);
      expect(again.rrd.loop).toMatchObject({ done: true, iteration: again.ledger.at(-1)?.iteration });
      const idle = await folder.run(goodAgent());
      expect(idle.events.filter(({ type }) => type === "iteration-started")).toEqual([]);
      expect(idle.rrd).toEqual(again.rrd);
    }
  });

  it("from before the report does not present a paper again that the report's check found retracted", async () => {
    const at = "2026-01-02T03:04:05Z";
    const retraction = { type: "retraction", source: "Crossref", date: "2026-01-01" } as const;
    const updates: Library["updates"] = async (papers) =>
      new Map(
        // It is retracted only after it was read.
        papers.map(({ id, status }: { readonly id: string; readonly status?: string }) => [
          id,
          {
            at,
            updates: id === "p2" && status === "presented" ? [retraction] : [],
            checked_by: ["Crossref"],
            unchecked: [],
          },
        ]),
      );
    const folder = researchFolder(rrdWith([paper("p1"), paper("p2")]), library({ updates }));
    const path = join(folder.folder, "rrd.json");
    let copy = "";
    const copying = goodAgent(({ kind }) => {
      if (kind === "report") copy = readFileSync(path, "utf8");
      return undefined;
    });
    const first = await folder.run(copying);
    const statuses = ({ papers_pool }: Rrd) => papers_pool.map(({ status }) => status);
    expect([statuses(JSON.parse(copy) as Rrd), statuses(first.rrd)]).toEqual([
      ["presented", "presented"],
      ["presented", "rejected"],
    ]);

    writeFileSync(path, copy);
    const again = await folder.run(goodAgent());
    expect(results(again.rrd)).toEqual(results(first.rrd));
    expect(again.ledger).toEqual(first.ledger);
  });
});
