import { expect, test } from "vitest";
import { resetResearch } from "../../../../src/research/units/reset.js";
import { derive } from "../../../../src/research/workflow/derive.js";
import { goodAgent, paper, researchFolder, rrdWith } from "../../../support/projects/research.js";

const now = () => Date.UTC(2026, 5, 1);

test.each(["report", "ideas"] as const)(
  "%s refused three times can be tried again with the command that the verdict names",
  async (unit) => {
    const research = researchFolder(rrdWith([paper("p1")]));
    const bad = goodAgent((data) => (data["kind"] === unit ? { text: "{" } : undefined));
    const { verdict } = await research.run(bad);
    expect(verdict).toMatchObject({
      verdict: "blocked",
      reason: expect.stringContaining(`'research-ralph reset ${research.folder} --unit ${unit}' tries again`),
    });
    await resetResearch(research.folder, { unit }, { derive, git: false, now });
    expect((await research.run(goodAgent())).verdict.verdict).toBe("complete");
  },
);

test("a search that found nothing is made again with the command that the verdict names", async () => {
  const research = researchFolder(rrdWith([]));
  const sources = ["arXiv", "web"].map((name) => ({ name, status: "empty" as const }));
  const nothing = goodAgent((data) =>
    data["kind"] === "discovery" ? { result: { unit: data["unit"], papers: [], sources } } : undefined,
  );
  const { verdict } = await research.run(nothing);
  expect(verdict).toMatchObject({
    verdict: "blocked",
    reason: expect.stringContaining(`'research-ralph reset ${research.folder} --unit discovery' searches again`),
  });
  await resetResearch(research.folder, { unit: "discovery" }, { derive, git: false, now });
  const found = { title: "One", url: "https://example.org/one", priority: 3, reason: "It fits." };
  const finds = goodAgent((data) =>
    data["kind"] === "discovery" ? { result: { unit: data["unit"], papers: [found], sources } } : undefined,
  );
  expect((await research.run(finds, 1)).rrd.papers_pool).toHaveLength(1);
});
