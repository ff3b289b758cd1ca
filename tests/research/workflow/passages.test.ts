import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { showCommand } from "../../../src/commands/inspect/show.js";
import { answerLines } from "../../../src/commands/search/answer-lines.js";
import type { Answer } from "../../../src/research/generated/answer.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import {
  goodAgent,
  library,
  narrative,
  paper,
  paperText,
  reading,
  researchFolder,
  rrdWith,
  shownHandle,
} from "../../support/projects/research.js";

const sentence = "In wet sand touch raised the success rate from 41 to 87 percent, but only with soft pads.";
/** The same words in the agent's own spelling, with words of its own in brackets. */
const spelt = "touch  raised the success rate [clearly] from 41 to 87 percent";
const marked = "In wet sand “touch raised the success rate from 41 to 87 percent”, but only with soft pads.";

test("the paper's own sentence goes from the result to state, briefs and reports, the agent's spelling nowhere", async () => {
  const { folder, run } = researchFolder(
    rrdWith([paper("p1")]),
    library({ text: async ({ id }) => ({ text: paperText(id, `It began. ${sentence} It ended.`) }) }),
  );
  const briefs: string[] = [];
  const { verdict, rrd } = await run(
    goodAgent((unit, text) => {
      if (unit["kind"] === "paper") {
        const evidence = [{ claim: "It rose to 87 percent with soft pads in 3,000 trials.", quote: spelt }];
        return { result: reading("p1", { results: "Well.", evidence }) };
      }
      briefs.push(text);
      if (unit["kind"] !== "report") return undefined;
      const result = narrative({}, shownHandle(unit));
      return { result: { ...result, answer: result.answer.map((said) => ({ ...said, text: "It rose." })) } };
    }),
  );
  expect(verdict).toMatchObject({ verdict: "complete" });

  const [evidence] = rrd.papers_pool[0]?.analysis?.evidence ?? [];
  expect(evidence).toMatchObject({
    passage: sentence,
    quoted: "12-63",
    status: "verified",
    numbers: [{ number: "3,000", stands: "nowhere" }],
  });
  expect(evidence).not.toHaveProperty("quote");

  const report = briefs.find((text) => text.includes('"kind": "report"')) ?? "";
  expect(report).toContain(`"passage": ${JSON.stringify(marked)}`);
  expect(report).toContain("number not in the passage: 3,000");

  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !path.includes("transcripts") && !path.includes("/.git/"))
      expect([entry.name, readFileSync(path, "utf8").includes("clearly")]).toEqual([entry.name, false]);
  }
  for (const text of briefs) expect(text).not.toContain("clearly");

  const io = fakeIo({ cwd: folder, columns: 60 });
  await showCommand({ folder, target: "p1", json: false }, io);
  expect(io.out()).toContain(
    [
      "      In wet sand “touch raised the success rate from 41 to",
      "      87 percent”, but only with soft pads.",
      "      the sentence begins before the quoted words",
      "      the sentence goes on",
      "      number not in the passage: 3,000",
    ].join("\n"),
  );
  expect(
    Math.max(
      ...io
        .out()
        .split("\n")
        .map((line) => line.length),
    ),
  ).toBeLessThanOrEqual(60);
});

test("an answer prints each quote in its passage, and one of an earlier version as it was kept", () => {
  const answer = {
    id: "answer-1",
    question: "Does it help?",
    at: "2026-11-22T10:00:00Z",
    dropped: 0,
    statements: [{ text: "It does.", rests_on: ["p1#1", "p2#1"] }],
    quotes: [
      { handle: "p1#1", paper: "p1", passage: sentence, quoted: "12-63", locator: "§ 1" },
      { handle: "p2#1", paper: "p2", quote: "touch helped in wet sand" },
    ],
  } as unknown as Answer;
  const lines = answerLines(answer, new Map([["p2", "lo2020"]]), { columns: 60, color: false });
  expect(lines.join("\n")).toContain(
    "[1] p1, § 1\n    In wet sand “touch raised the success rate from 41 to 87\n    percent”, but only with soft pads.",
  );
  expect(lines.join("\n")).toContain(
    "[2] lo2020\n    “touch helped in wet sand”\n    the words around it are not stored",
  );
  expect(lines.join("\n").match(/not stored/g)).toHaveLength(1);
});
