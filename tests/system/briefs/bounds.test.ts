import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { nextUnit } from "../../../src/research/workflow/next-unit.js";
import { statusOf } from "../../../src/research/workflow/status.js";
import type { Unit } from "../../../src/engine/loop/types.js";
import { derive } from "../../../src/research/workflow/derive.js";
import { briefFor } from "../../../src/research/workflow/brief/write-brief.js";
import { workspacesOf } from "../../../src/research/workflow/workspace.js";
import { estimateTokens } from "../../../src/engine/lib/tokens.js";
import { library, materialFor, paper, rrdWith, temporaryFolder } from "../../support/projects/research.js";
import type { Noted } from "../../../src/engine/storage/noted.js";
import type { Library } from "../../../src/research/units/unit-kind.js";

const made = new Map<string, string>();
/** `count` words, made once a kind: thousands of records share them. */
function words(count: number, seed: string): string {
  const text =
    made.get(`${count} ${seed}`) ?? Array.from({ length: count }, (_, index) => `${seed}${index % 97}word`).join(" ");
  made.set(`${count} ${seed}`, text);
  return text;
}

/** A research with everything large: long titles, abstracts, summaries, insights, glossary and AGENTS.md. */
function large(decided: number, pending: number): Rrd {
  const papers = Array.from({ length: decided + pending }, (_, index) =>
    paper(`p${index}`, {
      title: `Paper ${index} ${words(30, "title")}`,
      abstract: words(400, "abstract"),
      ...(index < decided
        ? {
            status: "presented" as const,
            score: 30,
            decision: "PRESENT",
            analysis: {
              ...{ summary: words(300, "sum"), results: words(300, "res"), methodology: "m", limitations: "l" },
              evidence: Array.from({ length: 8 }, (_unused, number) => ({
                ...{ claim: words(20, "claim"), quote: `In ${index + number} trials ${words(60, "quote")}.` },
                ...{ status: "verified" as const, locator: "§ 3 Results" },
              })),
            },
          }
        : {}),
    }),
  );
  const insights = Array.from({ length: decided * 3 }, (_, index) => ({
    id: `insight_${index}`,
    paper_id: `p${index % (decided || 1)}`,
    insight: words(100, "title"),
    tags: ["t"],
  }));
  const terms = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`T${index}`, words(20, "term")]));
  return rrdWith(papers, { insights, description: words(800, "d"), domain_glossary: { enabled: true, terms } });
}

async function briefOf(
  rrd: Rrd,
  unit?: Unit,
  given: Library = library(),
  root = temporaryFolder(),
  noted: readonly Noted[] = [],
) {
  writeFileSync(
    join(root, "AGENTS.md"),
    Array.from({ length: 60 }, (_, index) => `## Part ${index}\n\n${words(120, "rule")}\n`).join("\n"),
  );
  const derived = derive(rrd, []);
  const state = {
    ...{ rrd: derived, ledger: [], status: statusOf(derived, []) },
    noted: new Map(unit === undefined ? [] : [[unit.id, noted]]),
  };
  const next = unit ?? nextUnit(state, [], [], "/my-research");
  if (next === "wait" || "verdict" in next) throw new Error("nothing to do");
  const workspace = temporaryFolder();
  const where = { folder: root, root, services: given.services, workspaces: workspacesOf(root, root) };
  const material = (await materialFor(given, state, next)) ?? {};
  return { ...(await briefFor(where, state, next, material, {}, 1, workspace)).brief, workspace };
}

const withoutText = (text: string) =>
  text.replace(/<untrusted-text sha256="[^"]*">\n[\s\S]*?<\/untrusted-text[^>]*>/g, "");

describe("a brief is bounded", () => {
  test.each([30, 3_000])("everything but the paper's text takes at most 6,000 tokens at %i papers", async (count) => {
    const rrd = large(count - 1, 1);
    const { text, tokens } = await briefOf(rrd);
    expect(tokens).toBe(estimateTokens(text));
    expect(estimateTokens(withoutText(text))).toBeLessThanOrEqual(6_000);
  });

  test.each(["report", "ideas"] as const)("so does the brief of the %s at 3,000 papers", async (kind) => {
    const rrd = large(3_000, 0);
    const { text } = await briefOf(rrd, { kind, id: kind, phase: "ANALYSIS", title: kind });
    expect(estimateTokens(text)).toBeLessThanOrEqual(6_000);
    expect(text).toMatch(/"not_shown": \{\s+"papers": 29\d\d/);
  });

  test("and a discovery batch over thousands of candidates", async () => {
    const offered = Array.from({ length: 3_000 }, (_, index) => ({
      id: `c${index}`,
      title: `Candidate ${index} ${words(20, "t")}`,
      url: `sample:c${index}`,
      pdf_url: null,
      identifiers: {},
      authors: Array.from({ length: 300 }, (_unused, author) => `Author ${author}`),
      date: null,
      source: "samples",
      abstract: words(500, "a"),
    }));
    const rrd = rrdWith(
      Array.from({ length: 2_000 }, (_, index) => paper(`p${index}`, { title: `Known ${index} ${words(20, "k")}` })),
      { phase: "DISCOVERY", requirements: { target_papers: 5_000, sources: ["samples"], keywords: ["k"] } },
    );
    const { text } = await briefOf(rrd, undefined, library({ offered }));
    expect(estimateTokens(text)).toBeLessThanOrEqual(6_000);
    expect(text).toContain('"id": "c0"');
  });
});

describe("whatever people and agents write", () => {
  const huge = words(8_000, "h");
  const everywhere = (over: Partial<Rrd> = {}): Rrd => ({
    ...large(40, 1),
    project: huge,
    requirements: {
      focus_area: huge,
      keywords: Array.from({ length: 500 }, () => huge.slice(0, 500)),
      sources: Array.from({ length: 300 }, (_, index) => `source ${index} ${huge.slice(0, 300)}`),
      target_papers: 100,
    },
    blocked_sources: Array.from({ length: 50 }, () => ({ name: huge })),
    open_questions: [{ question: huge, current_default: huge }],
    handoff: { product_ideation: { enabled: true, ranking_goal: huge, assumed_constraints: { wishes: huge } } },
    ...over,
  });

  test.each(["discovery", "paper", "report", "ideas"] as const)(
    "the brief of a %s stays within its bound",
    async (kind) => {
      const rrd = everywhere(kind === "discovery" ? { phase: "DISCOVERY" } : {});
      const author = Array.from({ length: 500 }, () => huge.slice(0, 1_000));
      const papers = rrd.papers_pool.map((one) => ({
        ...one,
        title: huge,
        url: `https://example.org/${huge}`,
        date: huge,
        authors: author,
        abstract: huge,
      }));
      const id = kind === "paper" ? "p40" : kind === "discovery" ? "discovery-1" : kind;
      const { text } = await briefOf({ ...rrd, papers_pool: papers }, { kind, id, phase: "ANALYSIS", title: kind });
      expect(estimateTokens(withoutText(text))).toBeLessThanOrEqual(6_000);
    },
  );
});
