import { describe, expect, test } from "vitest";
import type { Insight } from "../../../../src/research/generated/rrd.js";
import { groupInsights } from "../../../../src/research/units/report/insight-groups.js";
import { paper } from "../../../support/projects/research.js";

const insight = (id: string, paper_id: string, tags: string[], cross_refs: string[] = []): Insight => ({
  id,
  paper_id,
  insight: `What ${id} says.`,
  tags,
  cross_refs,
});
const groupsOf = (insights: Insight[], papers = ["p1", "p2", "p3", "p4"].map((id) => paper(id))) =>
  groupInsights({ papers_pool: papers, insights }).map(({ insights: members }) => members.map(({ id }) => id));

describe("insights are grouped", () => {
  test("by tags that they share, however they are written, and by a rare one rather than a common one", () => {
    const insights = [
      insight("a", "p1", ["common", "Loss-tolerant"]),
      insight("b", "p2", ["common", "loss tolerant"]),
      insight("c", "p3", ["common", "attestation"]),
      insight("d", "p4", ["common", "attestation"]),
      ...Array.from({ length: 8 }, (_, n) => insight(`e${n}`, "p1", ["common"])),
    ];
    const groups = groupsOf(insights);
    expect(groups.some((group) => group.includes("a") && group.includes("b") && !group.includes("c"))).toBe(true);
    expect(groups.some((group) => group.includes("c") && group.includes("d"))).toBe(true);
  });

  test("by references of one to the paper of another", () => {
    expect(groupsOf([insight("a", "p1", [], ["p2"]), insight("b", "p2", []), insight("c", "p3", [])])).toEqual([
      ["a", "b"],
    ]);
  });

  test("without those of retracted papers, and what joins nothing is in no group", () => {
    const papers = [paper("p1"), paper("p2", { retracted: true }), paper("p3")];
    expect(groupsOf([insight("a", "p1", ["t"]), insight("b", "p2", ["t"]), insight("c", "p3", ["u"])], papers)).toEqual(
      [],
    );
  });

  test("at most fifteen, the same whenever it is asked, of thirty thousand insights too", () => {
    const papers = Array.from({ length: 10_000 }, (_, n) => paper(`p${n}`, { status: "presented", score: n % 50 }));
    const insights = Array.from({ length: 30_000 }, (_, n) =>
      insight(`i${n}`, `p${n % 10_000}`, [`t${n % 700}`, `u${n % 31}`, "all"], [`p${(n * 7) % 10_000}`]),
    );
    const groups = groupsOf(insights, papers);
    expect(groups.length).toBeGreaterThan(3);
    expect(groups.length).toBeLessThanOrEqual(15);
    expect(groupsOf(insights, papers)).toEqual(groups);
  });
});

test("insights of papers of which one cites the other are grouped", () => {
  const papers = [paper("p1"), paper("p2", { found: { sources: ["OpenAlex"], why: "", cites: ["p1"] } }), paper("p3")];
  const insights = [insight("a", "p1", []), insight("b", "p2", []), insight("c", "p3", [])];
  expect(groupsOf(insights, papers)).toEqual([["a", "b"]]);
});
