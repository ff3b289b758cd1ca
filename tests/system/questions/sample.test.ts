import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { findQuote } from "../../../src/text/evidence/find-quote.js";
import { quotedWords } from "../../../src/text/evidence/quoted.js";
import type { Answer } from "../../../src/research/generated/answer.js";
import { run, sharedPackage } from "../../support/processes/built.js";

let cli: string;
beforeAll(async () => {
  cli = join(await sharedPackage(), "dist/cli.js");
});

/** Each with the sentence of the sample that answers it. */
const questions = {
  "How far does a tactile residual close the gap in rotation?": "A small tactile residual on top of a policy",
  "Does distillation from a teacher help grasping in a warehouse cell?":
    "Distillation from a teacher that sees everything",
  "Was domain randomization replicated for turning a cube?": "Domain randomisation transfers to a low-cost hand",
  "What did one replication cost?": "The cost of one replication",
  "How long does the calibration of a hand take?": "minutes",
};
const unanswered = "Does aspirin reduce mortality after stroke?";

test("the baseline agent answers five questions on the sample with quotes that were found, and a sixth with none", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "ask-sample-")));
  const command = (...args: string[]) => run(process.execPath, [cli, ...args], root);
  expect(await command("demo", "--quiet")).toMatchObject({ code: 0 });
  for (const question of [...Object.keys(questions), unanswered])
    expect(await command("ask", question, "--agent", "baseline", "--quiet")).toMatchObject({ code: 0 });

  const [name = ""] = readdirSync(join(root, "researches"));
  const texts = join(root, "researches", name, ".ralph/texts");
  const all = JSON.parse((await command("answers", "--json")).out) as Answer[];
  expect(all.map(({ question }) => question)).toEqual([...Object.keys(questions), unanswered]);
  for (const [index, sentence] of Object.values(questions).entries()) {
    const { question = "", quotes = [] } = all[index] ?? {};
    expect(quotes.map(quotedWords).join("\n"), question).toContain(sentence);
    for (const { paper, ...kept } of quotes) {
      const quote = quotedWords(kept);
      const { text } = JSON.parse(readFileSync(join(texts, `${paper}.json`), "utf8")) as { text: string };
      expect(findQuote(text, quote).found, quote).toBe(true);
      expect(quote).not.toMatch(/^(?:Abstract|\d+ Introduction) /);
    }
  }
  expect(all.at(-1)).toMatchObject({ statements: [], quotes: [] });
  expect((await command("ask", unanswered, "--agent", "baseline", "--quiet")).out).toMatch(
    /^No passage found: baseline only compares words,/,
  );
  expect(await command("report", "--check", name)).toMatchObject({ code: 0 });
  rmSync(root, { recursive: true, force: true });
});
