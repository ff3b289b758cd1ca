import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { problemsOf } from "../../../../src/engine/storage/schema-check.js";
import { findText } from "../../../../src/research/full-text/find-text.js";
import { listFolder } from "../../../../src/research/full-text/local-folder.js";
import { countsOf, countsText } from "../../../../src/research/overview/counts.js";
import { progressOf } from "../../../../src/research/derived/status.js";
import type { Library } from "../../../../src/research/units/unit-kind.js";
import { buildText } from "../../../../src/text/documents/text/document-text.js";
import {
  goodAgent,
  library,
  paper,
  paperText,
  researchFolder,
  rrdWith,
  temporaryFolder,
} from "../../../support/projects/research.js";

const scan = "The PDF has no text; it is probably a scan. Run OCR over it (for example with ocrmypdf) and try again.";
const untold = (id: string, over = {}) => paper(id, { abstract: null, ...over });

/** An agent that does everything right, or invents where it is asked to, and the units that it was started on. */
function counted() {
  const units: string[] = [];
  return { units, agent: goodAgent((unit) => void units.push(String(unit["unit"]))) };
}

/** Texts of all papers but these. */
const without = (...ids: readonly string[]): Library =>
  library({ text: async ({ id }) => (ids.includes(id) ? { unavailable: scan } : { text: paperText(id) }) });

describe("a paper of which nothing but its title can be had", () => {
  test("is settled without an agent, has nothing that looks like a reading, and does not stop completion", async () => {
    const { units, agent } = counted();
    const folder = researchFolder(rrdWith([paper("p1"), untold("p2"), untold("p3")]), without("p2", "p3"));
    const { rrd, ledger, verdict } = await folder.run(agent);
    expect(verdict.verdict).toBe("complete");
    expect(units).toEqual(["p1", "report", "ideas"]);
    expect(rrd.papers_pool[1]).toMatchObject({
      status: "not_retrieved",
      score: null,
      score_breakdown: null,
      analysis: null,
      decision: null,
      not_retrieved: { reason: scan, tried: "https://example.org/p2" },
    });
    expect(rrd.papers_pool[1]).not.toHaveProperty("read_depth");
    expect(rrd.insights?.map(({ paper_id }) => paper_id)).toEqual(["p1"]);
    expect(problemsOf("rrd", rrd)).toEqual([]);
    const [line] = ledger.filter(({ unit }) => unit === "p2");
    expect(line).toMatchObject({ outcome: "accepted", duration_seconds: 0 });
    for (const field of ["agent", "tokens", "cost_usd"]) expect(line).not.toHaveProperty(field);
    expect(rrd.statistics).toMatchObject({ total_not_retrieved: 2, total_analyzed: 1, total_rejected: 0 });
    expect(countsText(countsOf(rrd))).toBe("1 included, 0 rejected, 2 not retrieved");
    expect(progressOf(rrd)).toMatchObject({ done: 3, total: 3, counts: { not_retrieved: 2 } });
    const report = readFileSync(join(folder.folder, "research-report.md"), "utf8");
    expect(report).toContain("2 papers of 3 could not be retrieved");
    expect(report).toContain("ocrmypdf");
  });

  test("is not one that has an abstract, nor one whose host is only busy", async () => {
    const { units, agent } = counted();
    const busy = library({ text: async () => ({ unavailable: "It is busy.", transient: true }) });
    const { rrd } = await researchFolder(rrdWith([paper("p1")]), without("p1")).run(agent, 1);
    expect(rrd.papers_pool[0]).toMatchObject({ read_depth: "abstract", status: "insights_extracted" });
    const later = await researchFolder(rrdWith([untold("p2")]), busy).run(agent, 1);
    expect([later.verdict.verdict, later.rrd.papers_pool[0]?.status]).toEqual(["blocked", "pending"]);
    expect(units).toEqual(["p1"]);
  });

  test("is also one without an abstract whose host is away, where a person reads by the abstracts", async () => {
    const { units, agent } = counted();
    const away = library({
      text: async ({ id }) =>
        id === "p3" ? { text: paperText(id) } : { unavailable: "example.org was not found.", transient: true },
    });
    const folder = researchFolder(rrdWith([paper("p1"), untold("p2", { key: "lee2024" }), paper("p3")]), away);
    const waiting = await folder.run(agent);
    expect(waiting.verdict).toMatchObject({
      verdict: "blocked",
      reason: expect.stringMatching(
        /\(author2026, lee2024\): .*--abstracts' reads what the abstract says now and counts the one without an abstract as not retrieved, and /,
      ),
    });
    const { rrd, verdict } = await folder.run(agent, 40, { abstracts: true });
    expect([verdict.verdict, units]).toEqual(["complete", ["p3", "p1", "report", "ideas"]]);
    expect(rrd.papers_pool.map(({ status }) => status)).toEqual([
      "insights_extracted",
      "not_retrieved",
      expect.any(String),
    ]);
    expect(rrd.papers_pool[1]?.not_retrieved).toEqual({
      reason: "example.org was not found.",
      cure: "'research-ralph reset' with --paper lee2024 has it tried again later, and 'research-ralph add' with the paper's file as a PDF gives it a text.",
      tried: "https://example.org/p2",
    });
  });

  test("waits while no paper with an abstract is left, and the sentence says what --abstracts makes of it", async () => {
    const busy = library({ text: async () => ({ unavailable: "It is busy.", transient: true }) });
    const reasonFor = async (...ids: string[]) =>
      (await researchFolder(rrdWith(ids.map((id) => untold(id))), busy).run(counted().agent)).verdict.reason;
    expect(await reasonFor("p1")).toMatch(
      /'research-ralph run \S+ --abstracts' goes on and counts it as not retrieved, because it has no abstract, and 'research-ralph add /,
    );
    expect(await reasonFor("p1", "p2")).toContain(
      "--abstracts' goes on and counts them as not retrieved, because they have no abstracts, and",
    );
  });

  test.each([
    ["an abstract that repeats the title", { abstract: "On the  Matter of p1." }, { unavailable: scan }],
    [
      "a text that is hardly more than the title",
      { abstract: null },
      { text: textOf("On the matter of p1. Ada Author") },
    ],
  ] as const)("may have %s", async (_, over, answer) => {
    const { units, agent } = counted();
    const given = library({ text: async () => answer });
    const { rrd } = await researchFolder(rrdWith([paper("p1", over)]), given).run(agent, 1);
    expect(rrd.papers_pool[0]?.status).toBe("not_retrieved");
    expect(units).not.toContain("p1");
  });

  test("is taken up again by an abstract, another address or a file beside it, and by nothing else", async () => {
    const { units, agent } = counted();
    const documents = temporaryFolder();
    const url = pathToFileURL(join(documents, "p4.pdf")).href;
    writeFileSync(join(documents, "p4.pdf"), "%PDF-1.4 broken");
    const pool = [untold("p1"), untold("p2"), untold("p3"), untold("p4", { url, pdf_url: url })];
    let isHelped = false;
    const text: Library["text"] = async ({ id }) => (isHelped ? { text: paperText(id) } : { unavailable: scan });
    const folder = researchFolder(rrdWith(pool), library({ text }));
    const first = await folder.run(agent);
    isHelped = true;
    expect((await folder.run(agent)).ledger).toHaveLength(first.ledger.length);
    expect(units).not.toContain("p1");
    writeFileSync(join(documents, "p4.txt"), "The text.");
    const [p1, p2, p3, p4] = first.rrd.papers_pool;
    const edited = [{ ...p1, abstract: "What it is about." }, { ...p2, url: "https://example.org/other" }, p3, p4];
    writeFileSync(join(folder.folder, "rrd.json"), JSON.stringify({ ...first.rrd, papers_pool: edited }, null, 2));
    const { rrd } = await folder.run(agent);
    expect(rrd.papers_pool.map(({ status }) => status)).toEqual([
      "presented",
      "presented",
      "not_retrieved",
      "presented",
    ]);
    expect(rrd.papers_pool[0]).not.toHaveProperty("not_retrieved");
  });
});

function textOf(text: string) {
  return buildText([{ text }], { kind: "text", depth: "full" });
}

describe("a document that stands for one that can't be read", () => {
  const words = "The method reached 87.5 % accuracy on 1,200 samples, as every one of the tables in this text shows.";

  test.each(["scan.txt", "scan.ocr.txt", "Scan-OCR.md"])(
    "is %s: it is read for it, and is no work of its own",
    async (name) => {
      const folder = temporaryFolder();
      const file = join(folder, "scan.pdf");
      writeFileSync(file, "%PDF-1.4 broken");
      const [alone] = await listFolder(folder, undefined);
      writeFileSync(join(folder, name), words);
      writeFileSync(join(folder, "scan-2.txt"), `Another one. ${words}`);
      const listed = await listFolder(folder, undefined);
      expect(listed.map(({ id }) => id)).toContain(alone?.id);
      expect(listed).toHaveLength(2);
      const options = { cacheDir: join(folder, "texts"), signal: new AbortController().signal };
      const read = await findText(
        { id: "x", title: "scan", url: pathToFileURL(file).href },
        { ...options, copies: [], http: undefined as never, contextFor: undefined as never },
      );
      expect(read.status === "ok" && read.text.text).toBe(words);
    },
  );
});
