import { describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../../src/engine/generated/ledger.js";
import type { Agent, LoopOptions } from "../../../../src/engine/loop/types.js";
import type { ConflictRule } from "../../../../src/research/units/unit-kind.js";
import type { Rrd } from "../../../../src/research/generated/rrd.js";
import type { PaperRecord } from "../../../../src/research/papers/paper-record.js";
import { goodAgent, library, researchFolder, rrdWith, scriptedAgent } from "../../../support/projects/research.js";

const record = (id: string): PaperRecord => ({
  id,
  title: `On the matter of ${id} and what follows from it`,
  url: `sample:${id}`,
  pdf_url: null,
  identifiers: {},
  authors: ["Ada Author"],
  date: "2026-01-02",
  source: "samples",
  abstract: `We ran a randomised trial of ${id} with forty adults.`,
});
const offered = ["alpha", "beta", "gamma", "delta"].map(record);
const rrd = rrdWith([], {
  handoff: { product_ideation: { enabled: false } },
  requirements: { target_papers: 10, sources: ["samples"], keywords: ["matter"] },
});

/** A reader that keeps these candidates, and what it was told. */
function reader(name: string, keeps: readonly string[], more: (unit: Record<string, unknown>) => object = () => ({})) {
  const told: { readonly candidates: readonly string[]; readonly text: string }[] = [];
  const agent: Agent = {
    ...scriptedAgent((unit, { text }) => {
      const ids = (unit["candidates"] as { id: string }[]).map(({ id }) => id);
      told.push({ candidates: ids, text });
      const kept = ids.filter((id) => keeps.includes(id)).map((id) => ({ id, reason: `${name} likes ${id}` }));
      const dropped = ids.filter((id) => !keeps.includes(id)).map((id) => ({ id, reason: `${name} minds ${id}` }));
      return { result: { unit: unit["unit"], kept, papers: [], dropped, sources: [], ...more(unit) } };
    }),
    name,
  };
  return { agent, told };
}

const first = () => reader("claude", ["alpha", "beta"]);
const second = () => reader("codex", ["alpha", "gamma"]);
const third = () => reader("amp", ["gamma"]);

const writer = goodAgent();

const among = (agents: Readonly<Record<string, Agent>>, conflicts: ConflictRule) => ({
  choose: ((_soFar, { role = "" }) => ({ agent: agents[role] ?? writer })) satisfies LoopOptions["choose"],
  sharing: { readers: { conflicts } },
});

async function screened(rule: ConflictRule, state: Rrd = rrd, most = rule === "third" ? 3 : 2) {
  const [one, other, last] = [first(), second(), third()];
  const folder = researchFolder(state, library({ offered }));
  const how = among({ "reader-1": one.agent, "reader-2": other.agent, "reader-3": last.agent }, rule);
  const ran = await folder.run(writer, most, how);
  return { ...ran, one, other, last, folder, how };
}

const partsOf = (ledger: readonly LedgerLine[]) =>
  ledger.map(({ role, agent, outcome }) => `${role} ${agent} ${outcome}`);
const statusOf = ({ papers_pool }: Rrd) => Object.fromEntries(papers_pool.map(({ id, status }) => [id, status]));

describe("a batch with two readers", () => {
  test("is judged by each alone, of the same records, in an iteration of its own", async () => {
    const { ledger, one, other, rrd: after } = await screened("include");
    expect(partsOf(ledger)).toEqual(["reader-1 claude noted", "reader-2 codex accepted"]);
    expect(ledger.every(({ tokens }) => (tokens?.input ?? 0) > 0)).toBe(true);
    expect(other.told[0]?.candidates).toEqual(one.told[0]?.candidates);
    expect(other.told[0]?.text).not.toContain("claude likes");
    const text = (told: typeof one.told) => told[0]?.text.replace(/\/[^\s"]*\/result\.json/g, "…");
    expect(text(other.told)).toBe(text(one.told));
    expect(after.statistics?.screening_agreement).toMatchObject({
      readers: ["claude", "codex"],
      judged: 4,
      both_include: 1,
      both_exclude: 1,
      conflicts: 2,
      kappa: 0,
    });
    expect(after.papers_pool.find(({ id }) => id === "beta")?.readings).toEqual([
      { role: "reader-1", by: "claude", decision: "include", reason: "claude likes beta", iteration: 1 },
      { role: "reader-2", by: "codex", decision: "exclude", reason: "codex minds beta", iteration: 2 },
    ]);
    expect(after.excluded?.map(({ id }) => id)).toEqual(["delta"]);
  });

  test("with the rule include, what one of them would include goes on", async () => {
    const { rrd: after } = await screened("include");
    expect(statusOf(after)).toEqual({ alpha: "pending", beta: "pending", gamma: "pending" });
  });

  test("with the rule third, a third one is asked about the conflicts alone, and decides", async () => {
    const { ledger, last, rrd: after } = await screened("third");
    expect(partsOf(ledger)).toEqual(["reader-1 claude noted", "reader-2 codex noted", "reader-3 amp accepted"]);
    expect(last.told[0]?.candidates).toEqual(["beta", "gamma"]);
    expect(last.told[0]?.text).not.toMatch(/claude likes|codex/);
    expect(statusOf(after)).toEqual({ alpha: "pending", gamma: "pending" });
    expect(after.excluded?.map(({ id }) => id)).toEqual(["beta", "delta"]);
    expect(after.statistics?.screening_agreement).toMatchObject({ conflicts: 2, open: 0 });
  });

  test("with the rule third and no conflict, nobody else is asked", async () => {
    const [one, other] = [first(), reader("codex", ["alpha", "beta"])];
    const how = among({ "reader-1": one.agent, "reader-2": other.agent }, "third");
    const { ledger } = await researchFolder(rrd, library({ offered })).run(goodAgent(), 2, how);
    expect(partsOf(ledger)).toEqual(["reader-1 claude noted", "reader-2 codex accepted"]);
  });

  test("with the rule person, conflicts wait, hold nothing up, and are not read", async () => {
    const { rrd: after, verdict, ledger } = await screened("person", rrd, 20);
    expect(statusOf(after)).toEqual({ alpha: "presented", beta: "waiting", gamma: "waiting" });
    expect(verdict.verdict).toBe("complete");
    expect(ledger.some(({ unit }) => unit === "beta")).toBe(false);
    expect(after.statistics?.total_waiting).toBe(2);
    expect(after.statistics?.screening_agreement).toMatchObject({ conflicts: 2, open: 2 });
  });

  test("a run that ended after the first keeps its judgement", async () => {
    const { folder, how, one, other } = await screened("include", rrd, 1);
    const { ledger } = await folder.run(goodAgent(), 1, how);
    expect(partsOf(ledger)).toEqual(["reader-1 claude noted", "reader-2 codex accepted"]);
    expect([one.told.length, other.told.length]).toEqual([1, 1]);
    expect(other.told[0]?.candidates).toEqual(one.told[0]?.candidates);
  });

  test("a refused reader is asked again, and the other one never hears of it", async () => {
    let tries = 0;
    const careless = reader("claude", ["alpha"], () => {
      tries += 1;
      return tries === 1 ? { kept: [{ id: "nobody" }] } : {};
    });
    const other = second();
    const how = among({ "reader-1": careless.agent, "reader-2": other.agent }, "include");
    const { ledger } = await researchFolder(rrd, library({ offered })).run(goodAgent(), 3, how);
    expect(partsOf(ledger)).toEqual(["reader-1 claude refused", "reader-1 claude noted", "reader-2 codex accepted"]);
    expect(careless.told[1]?.text).toContain("nobody");
    expect(other.told[0]?.text).not.toContain("nobody");
  });

  test("a reader that includes everything is named, from ten records on", async () => {
    const things = "tides bees roads glass milk stars boats paint sleep salt".split(" ");
    const many = things.map((thing) => ({ ...record(thing), title: `How ${thing} came to matter to ${thing} alone` }));
    const all = reader(
      "claude",
      many.map(({ id }) => id),
    );
    const other = reader(
      "codex",
      many.slice(0, 4).map(({ id }) => id),
    );
    const how = among({ "reader-1": all.agent, "reader-2": other.agent }, "include");
    const { events } = await researchFolder(rrd, library({ offered: many })).run(goodAgent(), 2, how);
    expect(JSON.stringify(events)).toContain("claude included every one of the 10 records that both readers judged");
  });
});

describe("with eligibility criteria", () => {
  const criteria = [
    { id: "c1", text: "randomised trial", kind: "include" as const },
    { id: "c2", text: "about gamma", kind: "exclude" as const },
  ];
  const withCriteria = { ...rrd, requirements: { ...rrd.requirements, criteria } };
  const quote = (id: string) => `randomised trial of ${id}`;
  /** A reader that answers the criteria; `excludes`: candidates of which c2 is true for it. */
  const answering = (name: string, excludes: readonly string[]) => {
    const answers = (id: string) => ({
      c1: { answer: "yes", quote: quote(id) },
      c2: excludes.includes(id) ? { answer: "yes", quote: quote(id) } : { answer: "no", quote: "forty adults" },
    });
    return reader(name, [], (unit) => ({
      kept: (unit["candidates"] as { id: string }[]).map(({ id }) => ({ id, reason: "", criteria: answers(id) })),
      dropped: [],
    }));
  };

  test("each reader's checked answers decide, and an answer on which they differ is unclear", async () => {
    const [one, other] = [answering("claude", ["gamma", "delta"]), answering("codex", ["gamma"])];
    const how = among({ "reader-1": one.agent, "reader-2": other.agent }, "person");
    const folder = researchFolder(withCriteria, library({ offered }));
    const { rrd: after } = await folder.run(goodAgent(), 2, how);
    expect(statusOf(after)).toEqual({ alpha: "pending", beta: "pending", delta: "waiting" });
    expect(after.excluded?.map(({ id, criterion }) => [id, criterion])).toEqual([["gamma", "c2"]]);
    const delta = after.papers_pool.find(({ id }) => id === "delta");
    expect(delta?.answers?.map(({ criterion, answer }) => [criterion, answer])).toEqual([
      ["c1", "yes"],
      ["c2", "unclear"],
    ]);
    expect(delta?.readings?.map(({ decision }) => decision)).toEqual(["exclude", "include"]);
    const flow = after.statistics?.discovery_metrics?.flow;
    expect(flow?.screening).toMatchObject({ screened: 4, excluded: { c2: 1 }, waiting: 1, passed: 2 });
    expect(flow?.full_text).toMatchObject({ sought: 2, waiting: 0, not_read: 2 });
  });
});
