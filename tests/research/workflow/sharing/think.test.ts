import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../../src/engine/generated/ledger.js";
import type { Agent, LoopOptions } from "../../../../src/engine/loop/types.js";
import {
  goodAgent,
  library,
  paper,
  paperText,
  reading,
  researchFolder,
  rrdWith,
  scriptedAgent,
} from "../../../support/projects/research.js";

const rrd = rrdWith([paper("p1")]);
const finding = { where: "results", problem: "The text says 1,200 samples, not 1,400.", quote: "on 1,200 samples" };
const wrong = reading("p1", { results: "87.5 % on 1,400 samples." });

/** What each part of a unit was told, in the order of their turns. */
interface Told {
  readonly role: string;
  readonly text: string;
}

/** A thinker whose draft holds an error, and mends it where it is told of it. */
function voices({ findings = [finding], rounds = 2 }: { findings?: readonly object[]; rounds?: number } = {}) {
  const told: Told[] = [];
  const thinker = scriptedAgent((unit, { text }) => {
    const role = String(unit["role"] ?? "draft");
    told.push({ role, text });
    return { result: role === "answer" ? reading("p1") : wrong };
  });
  const critic: Agent = {
    ...scriptedAgent((unit, { text }) => {
      told.push({ role: "critic", text });
      return { result: { unit: unit["unit"], findings } };
    }),
    name: "critic",
  };
  const choose: LoopOptions["choose"] = (_soFar, { role }) => ({ agent: role === "critic" ? critic : thinker });
  return { told, thinker, critic, how: { choose, sharing: { think: { rounds } } } };
}

/** The evidence of the draft that a brief shows. */
const evidenceIn = (brief = ""): object[] =>
  JSON.parse(JSON.parse(/"draft": ("(?:[^"\\]|\\.)*")/.exec(brief)?.[1] ?? "null")).evidence;

const partsOf = (ledger: readonly LedgerLine[]) =>
  ledger.filter(({ unit }) => unit === "p1").map(({ role, round, agent, outcome }) => [role, round, agent, outcome]);

describe("a paper that is thought over", () => {
  test("is drafted, criticised and answered, each in an iteration with its own line; the last is judged", async () => {
    const { told, thinker, how } = voices({ rounds: 1 });
    const folder = researchFolder(rrd);
    const { ledger, rrd: after, events } = await folder.run(thinker, 3, how);
    expect(partsOf(ledger)).toEqual([
      ["draft", 1, "scripted", "noted"],
      ["critic", 1, "critic", "noted"],
      ["answer", 1, "scripted", "accepted"],
    ]);
    expect(after.papers_pool[0]?.analysis?.results).toBe("87.5 % on 1,200 samples.");
    const [draft, critic, answer] = told;
    expect(draft?.text).not.toContain('"draft"');
    expect(critic?.text).toContain("1,400 samples");
    expect(critic?.text).toContain(paperText("p1").text.slice(0, 40));
    expect(critic?.text).not.toContain("Scores are whole numbers");
    // A quote of the draft is shown to the critic as the paper's own sentence; who mends the draft has its quotes.
    expect(evidenceIn(critic?.text).map(Object.keys)).toEqual(wrong.evidence.map(() => ["claim", "passage"]));
    expect(evidenceIn(answer?.text)).toEqual(wrong.evidence);
    expect(answer?.text).toContain(finding.problem);
    expect(answer?.text).toContain("a critic errs too");
    const started = events.filter(({ type }) => type === "iteration-started");
    expect(started.map((event) => "role" in event && [event.role, event.agent])).toEqual([
      ["draft", "scripted"],
      ["critic", "critic"],
      ["answer", "scripted"],
    ]);
    // The unit counts once among what loops are found in, and nothing is left behind.
    expect(after.loop?.observations?.map(({ unit, outcome }) => [unit, outcome])).toEqual([["p1", "accepted"]]);
    expect(readdirSync(join(folder.folder, ".ralph", "noted"))).toHaveLength(2);
    await folder.run(thinker, 0, how);
    expect(readdirSync(join(folder.folder, ".ralph", "noted"))).toEqual([]);
  });

  test("ends with a critic that finds nothing: the draft is judged, as its drafter's work", async () => {
    const { thinker, how } = voices({ findings: [] });
    const { ledger, rrd: after } = await researchFolder(rrd).run(thinker, 2, how);
    expect(partsOf(ledger)).toEqual([
      ["draft", 1, "scripted", "noted"],
      ["critic", 1, "critic", "accepted"],
    ]);
    expect(after.papers_pool[0]?.analysis?.results).toBe("87.5 % on 1,400 samples.");
  });

  test("has no more rounds than are allowed", async () => {
    const { thinker, how } = voices({ rounds: 2 });
    const { ledger } = await researchFolder(rrd).run(thinker, 5, how);
    expect(partsOf(ledger).map(([role, round]) => `${role} ${round}`)).toEqual([
      "draft 1",
      "critic 1",
      "answer 1",
      "critic 2",
      "answer 2",
    ]);
  });

  test("a critique that can't be used is told, and holds nothing up", async () => {
    const { thinker, how } = voices({ findings: [{ where: "results" }] });
    const { ledger, events } = await researchFolder(rrd).run(thinker, 2, how);
    expect(partsOf(ledger).at(-1)).toEqual(["critic", 1, "critic", "accepted"]);
    expect(JSON.stringify(events)).toContain("The critique of p1 can't be used");
  });

  test("a draft that is no result is refused, with its reasons, and drafted again; nobody else is told", async () => {
    const { told, how } = voices({ rounds: 1 });
    let first = true;
    const careless = goodAgent((unit, text) => {
      told.push({ role: String(unit["role"] ?? "draft"), text });
      const result = first ? { unit: "p1", summary: 5 } : reading("p1");
      first = false;
      return { result };
    });
    const choose: LoopOptions["choose"] = (soFar, unit) =>
      unit.role === "critic" ? how.choose(soFar, unit) : { agent: careless };
    const { ledger } = await researchFolder(rrd).run(careless, 4, { ...how, choose });
    expect(partsOf(ledger).map(([role, , , outcome]) => `${role} ${outcome}`)).toEqual([
      "draft refused",
      "draft noted",
      "critic noted",
      "answer accepted",
    ]);
    expect(told.map(({ text }) => text.includes("The last result was refused"))).toEqual([false, true, false, false]);
  });

  test("an answer that is refused is mended without a critic", async () => {
    const { how } = voices({ rounds: 1 });
    let answers = 0;
    const inventive = goodAgent((unit) => {
      answers += 1;
      const evidence = [{ claim: "It is.", quote: "Nobody ever wrote these very words anywhere." }];
      return { result: answers === 2 ? reading("p1", { evidence }) : reading(String(unit["unit"])) };
    });
    const choose: LoopOptions["choose"] = (soFar, unit) =>
      unit.role === "critic" ? how.choose(soFar, unit) : { agent: inventive };
    const { ledger, rrd: after } = await researchFolder(rrd).run(inventive, 4, { ...how, choose });
    expect(partsOf(ledger).map(([role, , , outcome]) => `${role} ${outcome}`)).toEqual([
      "draft noted",
      "critic noted",
      "answer refused",
      "undefined accepted",
    ]);
    expect(after.papers_pool[0]?.status).not.toBe("pending");
  });
});

describe("a run that ended between two parts", () => {
  test.each([1, 2])("goes on with the next one after %i of them", async (done) => {
    const { thinker, how } = voices({ rounds: 1 });
    const folder = researchFolder(rrd);
    await folder.run(thinker, done, how);
    const { ledger } = await folder.run(thinker, 3 - done, how);
    expect(partsOf(ledger).map(([role]) => role)).toEqual(["draft", "critic", "answer"]);
  });

  test.each([
    ["is gone", (path: string) => writeFileSync(path, "")],
    ["was changed", (path: string) => writeFileSync(path, readFileSync(path, "utf8").replace("1,400", "9,999"))],
  ])("begins anew where what was left %s, and says so", async (_, spoil) => {
    const { told, thinker, how } = voices({ rounds: 1 });
    const folder = researchFolder(rrd);
    await folder.run(thinker, 1, how);
    const path = join(folder.folder, ".ralph", "noted", "1.json");
    expect(existsSync(path)).toBe(true);
    spoil(path);
    const { ledger, events } = await folder.run(thinker, 3, how);
    expect(partsOf(ledger).map(([role]) => role)).toEqual(["draft", "draft", "critic", "answer"]);
    expect(JSON.stringify(events)).toContain("The result of iteration 1 (draft) for p1");
    expect(told.map(({ text }) => text).join("\n")).not.toContain("9,999");
  });

  test("begins anew where a person has changed the paper since", async () => {
    const { thinker, how } = voices({ rounds: 1 });
    const folder = researchFolder(rrd);
    await folder.run(thinker, 1, how);
    const path = join(folder.folder, "rrd.json");
    writeFileSync(path, readFileSync(path, "utf8").replace(paper("p1").title, "Another title altogether"));
    const { ledger, events } = await folder.run(thinker, 1, how);
    expect(partsOf(ledger).map(([role]) => role)).toEqual(["draft", "draft"]);
    expect(JSON.stringify(events)).toContain("The result of iteration 1 (draft) for p1");
  });

  test("without thinking any more, one agent does the unit", async () => {
    const { thinker, how } = voices({ rounds: 1 });
    const folder = researchFolder(rrd);
    await folder.run(thinker, 2, how);
    const { ledger } = await folder.run(goodAgent(), 1);
    expect(partsOf(ledger).at(-1)).toEqual([undefined, undefined, "scripted", "accepted"]);
  });
});

test("a brief of a unit that nobody thinks over is the same to the byte, whatever the critic's part says", async () => {
  const texts: string[] = [];
  const agent = goodAgent((unit, text) => {
    texts.push(text);
    return unit["kind"] === "paper" ? { result: reading("p1") } : undefined;
  });
  await researchFolder(rrd).run(agent, 1);
  await researchFolder(rrd).run(agent, 1, { sharing: {} });
  const { told, thinker, how } = voices();
  await researchFolder(rrd, library()).run(thinker, 1, how);
  const [plain, same] = texts.map((text) => text.replace(/\/[^\s"]*\/result\.json/g, "…"));
  expect(same).toBe(plain);
  expect(told[0]?.text.replace(/\/[^\s"]*\/result\.json/g, "…")).toBe(plain);
});
