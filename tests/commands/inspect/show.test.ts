import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Checked } from "../../../src/research/generated/rrd.js";
import { cli } from "../../support/processes/in-process.js";
import { freshFolder, makeResearch, paper } from "../../support/projects/research-folder.js";

const project = () => {
  const cwd = freshFolder();
  const found = {
    sources: ["arXiv", "Crossref"],
    why: "matches 1 of 2 keywords",
    merged: [{ id: "doi_10.1000_x", source: "Crossref", why: "the same title and the same authors, 2024" }],
    apart: [{ id: "doi_10.1000_y", why: "two DOIs of publishers" }],
  };
  const excluded = [
    {
      id: "doi_10.1000_z",
      title: "The same with other words",
      reason: "the same work as paper: the same doi 10.1000/z",
      stage: "duplicate" as const,
      duplicate_of: "arxiv_1",
    },
    { id: "doi_10.1000_y", key: "lo2021", title: "Another", reason: "Not on hands.", stage: "screened" as const },
  ];
  makeResearch(cwd, "hands-2026-03-01", { papers_pool: [paper("arxiv_1", "pending", { found })], excluded });
  return cwd;
};

test("a paper is shown with the records that were merged into it, those that were not, and why", async () => {
  const { code, out } = await cli(["show", "hands", "arxiv_1"], project());
  expect(code).toBe(0);
  expect(out).toContain(`Found
  by arXiv, Crossref: matches 1 of 2 keywords
  merged with doi_10.1000_x of Crossref: the same title and the same authors,
  2024
  not merged with lo2021: two DOIs of publishers
`);
});

test("a paper is shown with what another reader says of its claims, and whether that one's word counts", async () => {
  const cwd = freshFolder();
  const claimed = (claim: string, check: Checked) => ({
    claim,
    check,
    passage: "It held wet spheres.",
    quoted: "0-20",
    status: "verified" as const,
    locator: "p. 2",
  });
  const evidence = [
    claimed("It holds.", { verdict: "supported", by: ["codex"] }),
    claimed("It flies.", { verdict: "not-supported", by: ["guesser"], why: "nothing flies" }),
  ];
  const rate = { asked: 6, right: 6 };
  makeResearch(cwd, "hands-2026-03-01", {
    papers_pool: [paper("arxiv_1", "presented", { read_depth: "full", analysis: { summary: "s", evidence } })],
    meaning: { checkers: { codex: { borne_out: rate, not_borne_out: rate } } },
  });
  const { out } = await cli(["show", "hands", "arxiv_1"], cwd);
  expect(out).toContain("✓ It holds. (p. 2) ✓✓ meaning checked by codex\n");
  expect(out).toContain("      the claim: not supported, says guesser, which does not count: nothing\n      flies\n");
});

test("a paper is shown with what happened to it since it was published", async () => {
  const cwd = freshFolder();
  const updates = [
    { type: "correction", date: "2026-02-03", source: "Crossref" },
    { type: "version", date: "2026-02-04", source: "arXiv" },
  ];
  const warnings = ["Text hidden from readers was set aside."];
  makeResearch(cwd, "hands-2026-03-01", { papers_pool: [paper("arxiv_1", "pending", { updates, warnings })] });
  const { out } = await cli(["show", "hands", "arxiv_1"], cwd);
  expect(out.split("\n").filter((line) => line.startsWith("!"))).toEqual([
    "! Text hidden from readers was set aside.",
    "! Corrected on 2026-02-03, as Crossref says.",
  ]);
});

test("a record that was excluded is shown with its reason, found by its id", async () => {
  const cwd = project();
  expect(await cli(["show", "hands", "doi_10.1000_z"], cwd)).toMatchObject({
    code: 0,
    out: "The same with other words\nsame-other-words\nexcluded (duplicate): the same work as paper: the same doi 10.1000/z\n",
  });
  const { out } = await cli(["show", "hands", "doi_10.1000_z", "--json"], cwd);
  expect(JSON.parse(out)).toMatchObject({ duplicate_of: "arxiv_1" });
  expect((await cli(["show", "hands", "doi_10.1000_q"], cwd)).code).toBe(2);
});

test("show and verify say that a later version wrote a file, so that they may tell less than it holds", async () => {
  const cwd = project();
  const path = join(cwd, "researches", "hands-2026-03-01", "rrd.json");
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), format: 99 }));
  for (const args of [
    ["show", "hands", "arxiv_1"],
    ["show", "hands", "5"],
    ["verify", "hands"],
  ])
    expect((await cli(args, cwd)).err, args.join(" ")).toMatch(/^warning: .*99/);
});

test("a parted duplicate is shown as not screened, with the run that screens it", async () => {
  const cwd = project();
  expect((await cli(["join", "hands", "doi_10.1000_z", "--part", "--no-git"], cwd)).code).toBe(0);
  const { out } = await cli(["show", "hands", "doi_10.1000_z"], cwd);
  expect(out.replaceAll("\n", " ")).toMatch(/ not screened yet: .*screens it by itself/);
  expect(out).not.toContain("excluded");
});
