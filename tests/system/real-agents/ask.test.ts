import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { findQuote } from "../../../src/text/evidence/find-quote.js";
import { quotedWords } from "../../../src/text/evidence/quoted.js";
import type { Answer as Kept } from "../../../src/research/generated/answer.js";
import { run, sharedPackage } from "../../support/processes/built.js";
import { folderProject } from "../../support/projects/folder-project.js";
import { type Answer, type FakeLlm, type ModelRequest, optionsFor, startFakeLlm } from "./support/agents.js";
import { installed } from "./support/install.js";
import { toolCall } from "./support/tool-calls.js";

let built: string;
let folder: string;
let server: FakeLlm;
beforeAll(async () => {
  built = await sharedPackage();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ask-"));
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const questions = [
  "Which hands were cheapest?",
  "How far does a tactile residual close the gap in rotation?",
  "Does distillation from a teacher help grasping in a warehouse cell?",
  "Was domain randomization replicated for turning a cube?",
  "How long does system identification for insertion take?",
];
const unanswered = "Does aspirin reduce mortality after stroke?";

/** Words that stand in no paper. */
const madeUp = "Aspirin lowered the mortality after a stroke by eleven percent in this laboratory.";

/**
 * A model that quotes a sentence of the first passage that shares a word with the question. Where no paper answers, it
 * answers all the same: with words that it made up, and with a sentence of one paper as another's.
 */
function answers({ user }: ModelRequest): Answer {
  const unit = JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(user)?.[1] ?? "{}") as {
    unit: string;
    question: string;
    papers: readonly { readonly id: string }[];
  };
  const words = unit.question.toLowerCase().match(/[a-z]{5,}/g) ?? [];
  const found = user.split(/^(?=@@ )/m).flatMap((part) => {
    const [, paper, said] = /^@@ (.+?) \| [^\n]*\n([\s\S]*)$/.exec(part) ?? [];
    const quote = (said ?? "")
      .match(/[A-Z][^.\n]{40,}\./g)
      ?.find((each) => words.some((word) => each.toLowerCase().includes(word)));
    return paper === undefined || quote === undefined ? [] : [{ id: "q1", paper, quote }];
  });
  const quotes = unit.question === unanswered ? falseQuotes(user, unit.papers) : found.slice(0, 1);
  const statements = quotes.map(({ id, paper, quote }) => ({ text: quote, rests_on: [`${paper}#${id}`] }));
  const result = { unit: unit.unit, quotes, statements, not_found: null };
  return { text: JSON.stringify(result) };
}

/** A made-up quote, and a sentence of one paper as another's; the first alone in a repair, which shows no passages. */
function falseQuotes(user: string, papers: readonly { readonly id: string }[]) {
  const saidBy = new Map<string, string>();
  for (const part of user.split(/^(?=@@ )/m)) {
    const [, paper, said = ""] = /^@@ (.+?) \| [^\n]*\n([\s\S]*)$/.exec(part) ?? [];
    if (paper !== undefined) saidBy.set(paper, `${saidBy.get(paper) ?? ""}\n${said}`);
  }
  const [[one, said] = ["", ""], ...others] = [...saidBy];
  const foreign = others
    .flatMap(([, own]) => own.match(/[A-Z][^.\n]{60,}\./g) ?? [])
    .find((each) => !said.includes(each));
  return [
    ...papers.slice(0, 1).map(({ id }) => ({ id: "q1", paper: id, quote: madeUp })),
    ...(foreign === undefined ? [] : [{ id: "q2", paper: one, quote: foreign }]),
  ];
}

const twoProjects = {
  hands: "The gripper of laboratory nine sold for eleven dollars a piece.",
  feet: "The ankle joint of laboratory four sold for seven dollars a piece.",
};

/** Searches once with words that the question has not, and quotes the first sentence that the tool shows of each. */
function searches(request: ModelRequest): Answer {
  if (request.results.length === 0)
    return { text: "Searching.", tools: [toolCall(request, "find_passages", { query: "sold for dollars", most: 5 })] };
  const { unit } = JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(request.user)?.[1] ?? "{}") as { unit: string };
  // One of the CLIs hands on what a tool said as JSON.
  const told = request.results.join("\n").replaceAll("\\n", "\n");
  const quotes = told.split(/^(?=@@ )/m).flatMap((part) => {
    const [, paper, quote] = /^@@ (\S+) \| [^\n]*\n[\s\S]*?(The [^\n]* sold for [^\n]*?\.)/.exec(part) ?? [];
    return paper === undefined || quote === undefined ? [] : [{ id: "q1", paper, quote }];
  });
  quotes.sort((one, other) => one.paper.localeCompare(other.paper));
  const statements = quotes.map(({ id, paper, quote }) => ({ text: quote, rests_on: [`${paper}#${id}`] }));
  return { text: JSON.stringify({ unit, quotes, statements, not_found: null }) };
}

const root = (): string => join(folder, "repo");

/** The built program in a folder whose agent asks a model that answers so. */
async function cliWith(name: "claude" | "codex", model: Parameters<typeof startFakeLlm>[0]) {
  server = await startFakeLlm(model);
  const home = join(folder, "home");
  for (const path of [root(), home]) mkdirSync(path, { recursive: true });
  const config = { agents: { [name]: optionsFor(name, server, home) }, state_dir: join(folder, "state") };
  writeFileSync(join(root(), "ralph.config.json"), JSON.stringify(config));
  return (...args: string[]) => run(process.execPath, [join(built, "dist", "cli.js"), ...args], root());
}

for (const name of ["claude", "codex"] as const) {
  const found = installed(name);
  describe.skipIf("problem" in found)(
    `questions to the sample project, with the real ${name}${"problem" in found ? ` (skipped: ${found.problem})` : ""}`,
    () => {
      test("five are answered in one request with a quote that was found; a sixth, whose quotes are false twice, with none", async () => {
        const cli = await cliWith(name, answers);
        expect((await cli("demo", "--quiet")).code).toBe(0);
        for (const question of [...questions, unanswered]) {
          const { code, err } = await cli("ask", question, "--agent", name, "--sandbox", "host", "--no-git");
          expect({ question, code }).toEqual({ question, code: 0 });
          if (question !== unanswered) expect(err).not.toContain("refused");
        }
        const { out } = await cli("answers", "--json");
        const all = JSON.parse(out) as Kept[];
        expect(all.map(({ question }) => question)).toEqual([...questions, unanswered]);
        expect(all.map(({ statements }) => statements.length)).toEqual([1, 1, 1, 1, 1, 0]);
        expect(all.at(-1)).toMatchObject({ quotes: [], left_out: [{}], missing: [madeUp] });
        const [project = ""] = (await cli("list", "--json")).out.match(/[\w/.-]*sample-sim2real[\w-]*/) ?? [];
        const at = join(root(), "researches", project.split("/").at(-1) ?? "");
        for (const quote of all.flatMap(({ quotes }) => quotes)) {
          const { text } = JSON.parse(readFileSync(join(at, ".ralph/texts", `${quote.paper}.json`), "utf8")) as {
            text: string;
          };
          expect(findQuote(text, quotedWords(quote)).found).toBe(true);
        }
        const lines = readFileSync(join(at, "ledger.jsonl"), "utf8").trim().split("\n");
        const asked = lines
          .map((row) => JSON.parse(row) as LedgerLine)
          .filter(({ unit }) => unit.startsWith("answer-"));
        expect(asked.map(({ outcome, tokens }) => [outcome, tokens?.requests])).toEqual(
          [...questions.map(() => "accepted"), "refused", "accepted"].map((outcome) => [outcome, 1]),
        );
        expect(Math.max(...asked.map(({ brief_tokens = 0 }) => brief_tokens))).toBeLessThanOrEqual(26_000);
      });

      test("of two projects it finds passages with words of its own, over both, and quotes from either", async () => {
        const cli = await cliWith(name, searches);
        for (const [project, said] of Object.entries(twoProjects)) {
          const text = `---\nid: ${project}\ntitle: On ${project}\ndate: 2026-01-01\n---\n\n# On ${project}\n\n## 1 Costs\n\n${said}\n`;
          folderProject(root(), project, { [project]: text });
          expect((await cli("run", project, "--agent", "baseline", "--quiet", "--no-git")).code).toBe(0);
        }
        const { code, err } = await cli(
          ...["ask", ...Object.keys(twoProjects), "Which laboratory was cheapest?"],
          ...["--agent", name, "--sandbox", "host", "--no-git"],
        );
        expect({ code, err: code === 0 ? "" : err }).toEqual({ code: 0, err: "" });
        const [answer] = JSON.parse((await cli("answers", "hands", "--json")).out) as Kept[];
        expect(answer?.projects).toEqual(["hands", "feet"]);
        const quotes = answer?.quotes.map((quote) => [quote.paper.slice(0, 2), quotedWords(quote)]) ?? [];
        expect(quotes).toEqual([
          ["1:", twoProjects.hands],
          ["2:", twoProjects.feet],
        ]);
      });
    },
  );
}
