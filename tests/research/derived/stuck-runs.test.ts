import { expect, test } from "vitest";
import { limitIterations } from "../../../src/engine/loop/stop-conditions/limits.js";
import { stopWhenStuck } from "../../../src/engine/loop/stop-conditions/stuck.js";
import { paper, reading, researchFolder, rrdWith, scriptedAgent } from "../../support/projects/research.js";
import { researchWords } from "../../../src/research/project-files/words.js";

const papers = Array.from({ length: 12 }, (_, n) => paper(`p${n + 1}`));
const stopConditions = [limitIterations(12), stopWhenStuck(researchWords)];

test("excuses in other words each time end the run at five, and the briefs from the third on say what to do otherwise", async () => {
  const excuses = [
    "I could not find the paper's text in the workspace, so no result was written.",
    "The text of the paper was not found in the workspace; I wrote no result.",
    "There is no paper text in the workspace that I could find, therefore I have written no result.",
    "In the workspace the text of the paper could not be found, and I wrote no result for it.",
    "As I found no text of the paper within the workspace, a result was not written.",
  ];
  const told: boolean[] = [];
  const agent = scriptedAgent((_, { iteration, text }) => {
    told.push(text.includes("# What to do differently"));
    return { message: excuses[(iteration - 1) % 5] ?? "" };
  });
  const { verdict, ledger, rrd } = await researchFolder(rrdWith(papers)).run(agent, 12, { stopConditions });
  expect(verdict.verdict).toBe("stuck");
  expect(ledger).toHaveLength(5);
  expect(rrd.loop?.loop_type).toBe("planning-loop");
  expect(told).toEqual([false, false, true, true, true]);
});

test("an agent that ends well and says nothing ends the run at five too; one that crashes has not answered", async () => {
  const silent = await researchFolder(rrdWith(papers)).run(
    scriptedAgent(() => ({ message: "" })),
    12,
    { stopConditions },
  );
  expect([silent.verdict.verdict, silent.ledger.length, silent.rrd.loop?.loop_type]).toEqual([
    "stuck",
    5,
    "identical-answers",
  ]);
  const failure = { kind: "crashed", message: "It ended with exit code 1." } as const;
  const crashing = await researchFolder(rrdWith(papers)).run(
    scriptedAgent(() => ({ message: "", end: { failure } })),
    6,
    { stopConditions },
  );
  expect(crashing.rrd.loop?.loop_type).not.toBe("identical-answers");
});

/** A whole reading about something of its own, as a model writes it. */
const about = [
  [
    "A policy is trained by reinforcement in simulation.",
    "Domain randomisation over friction and mass.",
    "It reaches unseen mugs.",
    "Tactile sensing is missing.",
  ],
  [
    "A transformer predicts contacts of proteins.",
    "Sequences are masked and aligned.",
    "Accuracy rises over the baseline.",
    "Ligands and long chains fail.",
  ],
  [
    "Cathodes without cobalt are cycled.",
    "Coin cells at room temperature.",
    "Capacity stays above nine tenths.",
    "Heat and price stay open.",
  ],
  [
    "Hospitals train one model together.",
    "Gradients are clipped and averaged.",
    "Recall equals that of pooled data.",
    "Few sites took part.",
  ],
  [
    "Poems are translated by a pipeline of critics.",
    "Blind ratings by native speakers.",
    "Rhyme survives more often.",
    "Only sonnets were tried.",
  ],
  [
    "Turbines follow tides with learned valves.",
    "A basin of two kilometres is modelled.",
    "Yield grows in spring.",
    "Silt was left out.",
  ],
].map(([summary = "", methodology = "", results = "", limitations = ""]) => ({
  summary,
  methodology,
  results,
  limitations,
  insights: [],
  notes: `${summary} ${results}`,
}));

test("readings of different papers that are all refused for quotes that aren't there are no loop", async () => {
  const agent = scriptedAgent((unit, { iteration }) => {
    const said = about[(iteration - 1) % 6];
    const evidence = [{ claim: said?.results ?? "", quote: `Nobody ever wrote that ${said?.methodology}` }];
    return { result: reading(String(unit["unit"]), { ...said, evidence }) };
  });
  const { verdict, ledger } = await researchFolder(rrdWith(papers)).run(agent, 12, { stopConditions });
  expect(ledger.every(({ outcome }) => outcome === "refused")).toBe(true);
  expect(verdict.verdict).toBe("limit");
});

test("three answers in turn end the run after ten", async () => {
  const agent = scriptedAgent((unit, { iteration }) => ({
    result: { ...reading(String(unit["unit"]), about[iteration % 3]), scores: { execution: { novelty: 9 } } },
  }));
  const { verdict, ledger } = await researchFolder(rrdWith(papers)).run(agent, 12, { stopConditions });
  expect(verdict).toMatchObject({ verdict: "stuck", reason: expect.stringContaining("oscillation") });
  expect(ledger).toHaveLength(10);
});
