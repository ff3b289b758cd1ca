import { describe, expect, test } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { estimateTokens } from "../../../src/engine/lib/tokens.js";
import { library, paper, rrdWith } from "../../support/projects/research.js";
import { briefOf, large, words } from "../../support/projects/large-research.js";

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
