import { describe, expect, test } from "vitest";
import { libraryFor } from "../../../src/compose/library.js";
import { prepareUnit } from "../../../src/research/workflow/prepare.js";
import type { Library } from "../../../src/research/units/unit-kind.js";
import { nextUnit } from "../../../src/research/workflow/next-unit.js";
import { readingWorkflow } from "../../../src/research/workflow/single-paper.js";
import { statusOf } from "../../../src/research/workflow/next-unit.js";
import type { Delay } from "../../../src/engine/loop/types.js";
import { fakeClock } from "../../support/clock.js";
import {
  goodAgent,
  library,
  paper,
  paperText,
  reading,
  researchFolder,
  rrdWith,
  scriptedAgent,
  temporaryFolder,
} from "../../support/projects/research.js";
import { serve } from "../../fixtures/web-server.js";
import type { TextMaterial } from "../../../src/research/units/paper-text/prepare-text.js";
import type { TextAnswer } from "../../../src/research/paper-lookups/paper-lookups.js";

const busy: TextAnswer = { unavailable: "arxiv.org asks to wait (HTTP 429).", transient: true };
const never = new AbortController().signal;

/** Prepares a paper, its library and signal as given, with a clock that moves only by waiting. */
async function prepared(
  given: Library,
  { isPatient = true, abstracts = false, signal = never, clock = fakeClock() } = {},
) {
  const rrd = rrdWith([paper("p1")]);
  const state = { rrd, ledger: [], status: statusOf(rrd, []), agentNotes: new Map() };
  const outside = { ...clock, folder: "/nowhere", library: given, isPatient, abstracts };
  const unit = { kind: "paper", id: "p1", phase: "ANALYSIS", title: "A paper" } as const;
  return await prepareUnit(outside, state, unit, signal);
}

/** A library whose papers can't be had as often as their list says, and that counts how often each was asked for. */
function busyLibrary(failures: Record<string, number>) {
  const asked: Record<string, number> = {};
  const text = async ({ id }: { id: string }): Promise<TextAnswer> => {
    asked[id] = (asked[id] ?? 0) + 1;
    return asked[id] <= (failures[id] ?? 0) ? busy : { text: paperText(id) };
  };
  return { asked, ...library({ text }) };
}

describe("a paper whose host is only busy", () => {
  test("is waited for 2, 10 and 30 seconds and then read in full", async () => {
    const clock = fakeClock();
    const started = clock.now();
    const given = busyLibrary({ p1: 3 });
    expect(await prepared(given, { clock })).toHaveProperty("ready.material.text");
    expect([given.asked["p1"], clock.now() - started]).toEqual([4, 42_000]);
  });

  test("lets others go first, is not read from its abstract, and is what the run is blocked by in the end", async () => {
    const given = busyLibrary({ p1: 4 });
    const { run } = researchFolder(rrdWith([paper("p1", { priority: 5 }), paper("p2")]), given);
    const first = await run(goodAgent());
    expect(first.ledger.map(({ unit, outcome }) => `${unit} ${outcome}`)).toEqual(["p2 accepted"]);
    expect(first.verdict).toEqual({
      verdict: "blocked",
      reason: expect.stringMatching(
        /^The text of one paper is not available now \(author2026\): arxiv\.org asks to wait \(HTTP 429\)\. Run again later to read it in full; 'research-ralph run \S+ --abstracts' reads what the abstract says now, and 'research-ralph add \S+ <file\.pdf>' gives a paper its text\.$/,
      ),
    });
    expect(first.events).toContainEqual(
      expect.objectContaining({
        type: "prepared",
        unit: "p1",
        outcome: "later",
        reason: expect.stringContaining("arxiv.org asks to wait"),
      }),
    );

    const second = await run(goodAgent());
    expect(second.verdict.verdict).toBe("complete");
    expect(second.rrd.papers_pool.map(({ read_depth }) => read_depth)).toEqual(["full", "full"]);
  });

  test("is read by its abstract where a person asks for that, and is not waited for", async () => {
    const given = busyLibrary({ p1: 9 });
    const { ready } = (await prepared(given, { abstracts: true })) as { ready: { material: TextMaterial } };
    expect(ready.material.unavailable).toBe("arxiv.org asks to wait (HTTP 429).");
    expect(given.asked["p1"]).toBe(1);
  });

  test("is put off if the run is interrupted, also where a person reads by abstracts", async () => {
    expect(await prepared(busyLibrary({ p1: 9 }), { abstracts: true, signal: AbortSignal.abort() })).toHaveProperty(
      "later",
    );
  });

  test("costs the waits once, not once for every paper while the network is away", async () => {
    const given = busyLibrary({ p1: 9, p2: 9, p3: 9 });
    const { verdict, ledger } = await researchFolder(rrdWith([paper("p1"), paper("p2"), paper("p3")]), given).run(
      goodAgent(),
    );
    expect([verdict.verdict, ledger, given.asked]).toEqual(["blocked", [], { p1: 4, p2: 1, p3: 1 }]);
  });

  test("is put off for ten minutes", async () => {
    const clock = fakeClock();
    const { later } = (await prepared(busyLibrary({ p1: 9 }), { clock, isPatient: false })) as { later: Delay };
    expect(later).toEqual({ reason: "arxiv.org asks to wait (HTTP 429).", until: clock.now() + 600_000 });
  });

  test("is tried again in the same run once others were read for so long", async () => {
    const clock = fakeClock();
    const given = busyLibrary({ p1: 4 });
    const agent = goodAgent(() => void clock.advance(11 * 60_000));
    const folder = researchFolder(rrdWith([paper("p1", { priority: 5 }), paper("p2"), paper("p3")]), given);
    const { ledger } = await folder.run(agent, 3, { clock });
    expect(ledger.map(({ unit }) => unit)).toEqual(["p2", "p1", "p3"]);
  });

  test("is waited for no longer once the run is interrupted", async () => {
    const given = busyLibrary({ p1: 9 });
    await prepared(given, { signal: AbortSignal.abort() });
    expect(given.asked["p1"]).toBe(1);
  });

  test("ends 'read' with its host's name and no word of a file that is not there", async () => {
    const rrd = rrdWith([paper("p1")]);
    const unit = { kind: "paper", id: "p1", phase: "ANALYSIS", title: "A paper" } as const;
    const later = [{ unit, reason: "arxiv.org asks to wait (HTTP 429).", until: 1 }];
    const workflow = readingWorkflow({ next: nextUnit } as unknown as Parameters<typeof readingWorkflow>[0]);
    expect(workflow.next({ rrd, ledger: [], status: statusOf(rrd, []), agentNotes: new Map() }, [], later)).toEqual({
      verdict: "blocked",
      reason: "arxiv.org asks to wait (HTTP 429). Read it again later.",
    });
  });
});

describe("the library of a run", () => {
  const libraryOf = (signal: AbortSignal) =>
    libraryFor(
      temporaryFolder(),
      "/",
      { sources: {}, stateDir: temporaryFolder(), patienceMs: 0, lookups: true },
      {},
      signal,
    );

  test("fetches nothing from this machine, whatever address an agent brought", async () => {
    const server = await serve({ "/": { body: "a secret of the intranet" } });
    try {
      for (const over of [{ url: server.origin }, { url: null, pdf_url: `${server.origin}/1.pdf` }]) {
        const answer = await libraryOf(never).text(paper("p1", over));
        expect(answer).toEqual({ unavailable: expect.stringContaining("this machine or its network") });
      }
      expect(server.requests).toEqual([]);
    } finally {
      await server.close();
    }
  });

  test("says of a failure whether it may pass", async () => {
    expect(await libraryOf(AbortSignal.abort()).text(paper("p1"))).toEqual({
      unavailable: "Fetching was interrupted.",
      transient: true,
    });
  });
});

describe("what was read of a paper", () => {
  test("a page about it is not the paper: its quotes are checked, it is not presented, and the agent and the reader are told", async () => {
    const given = library({ text: async ({ id }) => ({ text: { ...paperText(id), depth: "abstract" } }) });
    const briefs: string[] = [];
    const agent = scriptedAgent((_, brief) => {
      briefs.push(brief.text);
      return { result: reading("p1") };
    });
    const { rrd } = await researchFolder(rrdWith([paper("p1")]), given).run(agent, 1);
    const [one] = rrd.papers_pool;
    expect(one).toMatchObject({
      status: "insights_extracted",
      read_depth: "abstract",
      warnings: [expect.stringContaining("a page about the paper")],
    });
    expect(one?.analysis?.evidence?.map(({ status }) => status)).toEqual(["verified", "verified"]);
    expect(briefs[0]).toContain("only its abstract was read");
  });

  test("is fetched once an iteration, for a repair too, and a refusal names the quotes that are too short", async () => {
    const given = busyLibrary({});
    const short = reading("p1", {
      evidence: [
        { claim: "It is accurate.", quote: "of the" },
        { claim: "It is quick.", quote: "14 minutes" },
        { claim: "a", quote: "87.5 %" },
      ],
    });
    let answers = 0;
    const { ledger } = await researchFolder(rrdWith([paper("p1")]), given).run(
      scriptedAgent(() => ({ result: (answers += 1) === 1 ? short : reading("p1") })),
      2,
    );
    expect(ledger.map(({ outcome }) => outcome)).toEqual(["refused", "accepted"]);
    expect(ledger[0]?.reasons).toContain('too short to be evidence: "14 minutes"');
    expect(given.asked).toEqual({ p1: 2 });
  });
});
