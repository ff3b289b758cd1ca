import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Answer as StoredAnswer } from "../../../src/research/generated/answer.js";
import type { ReportFile } from "../../../src/research/generated/report.js";
import { run } from "../../support/processes/built.js";
import { folderProject } from "../../support/projects/folder-project.js";
import { answerByWords, readPapers, type ShownSentence } from "../../support/projects/passages-for-controls.js";
import { besideModel } from "../../support/network/beside-model.js";
import { type Answer, type Cli, type ModelRequest, optionsFor, startFakeLlm } from "./support/agents.js";
import { installed } from "./support/install.js";

const here = besideModel("check");

const right = "Grip strength was higher in adults with a soft glove.";
const overstated = "Daily stretching lengthens the reach of everybody's fingers for good.";
const corrected = "Finger reach was higher in adults who stretched daily for two weeks.";
const madeUp = "Warm milk is cheaper than every other means.";

interface Unit {
  readonly kind: string;
  readonly unit: string;
  readonly sentences?: readonly ShownSentence[];
}

/**
 * Writes a report, and answers a question, with an overstatement and a fabrication in it, checks as one who knows, and
 * mends what it is told.
 */
function model({ user }: ModelRequest): Answer {
  const unit = JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(user)?.[1] ?? "{}") as Unit;
  const shown = unit.sentences ?? [];
  const said = (text: string, handle: string) => ({ text, rests_on: [handle] });
  const three = [said(right, "other_0#1"), said(overstated, "other_3#1"), said(madeUp, "other_2#1")];
  const results: Record<string, object> = {
    question: { unit: unit.unit, quotes: [], statements: three, not_found: null },
    report: {
      unit: "report",
      question: "What helps weak hands?",
      answer: [said(right, "other_0#1")],
      findings: three,
      agreed: [],
      disputed: [],
      gaps: [],
      themes: [],
      comparison: null,
      recommendations: [],
    },
    check: { unit: "check", answers: shown.map((each) => ({ number: each.number, ...judged(each) })) },
    mend: {
      unit: "mend",
      sentences: shown.map(({ number, sentence }) => ({ number, text: sentence === overstated ? corrected : null })),
    },
  };
  return { text: JSON.stringify(results[unit.kind]) };
}

function judged(shown: ShownSentence): object {
  if ([right, corrected].includes(shown.sentence)) return { verdict: "supported" };
  if (shown.sentence === overstated)
    return { verdict: "overstated", why: "Adults, for two weeks.", too_much: "everybody, for good", better: corrected };
  if (shown.sentence === madeUp) return { verdict: "not-supported", why: "Nothing is said of costs." };
  return answerByWords(shown);
}

/** A project whose papers are read, and whose agents talk to the scripted server. */
function prepare(clis: readonly Cli[], check: object): { root: string; folder: string } {
  const root = join(here.folder, "repo");
  const home = join(here.folder, "home");
  for (const path of [root, home]) mkdirSync(path, { recursive: true });
  const agents = Object.fromEntries(clis.map((name) => [name, optionsFor(name, here.server, home)]));
  const config = { agents, state_dir: join(here.folder, "state"), sandbox: "host", git: false, ...check };
  writeFileSync(join(root, "ralph.config.json"), JSON.stringify(config));
  const papers = readPapers();
  const folder = folderProject(root, "hands", Object.fromEntries(papers.map(({ id }) => [id, `# ${id}\n`])));
  const path = join(folder, "rrd.json");
  const rrd = JSON.parse(readFileSync(path, "utf8")) as object;
  writeFileSync(path, JSON.stringify({ ...rrd, phase: "ANALYSIS", papers_pool: papers }));
  return { root, folder };
}

const both = [
  ["claude", "codex"],
  ["codex", "claude"],
] as const;

describe.each(both)("what the real %s writes and the real %s checks", (writer, checker) => {
  const problems = [writer, checker].flatMap((name) => {
    const found = installed(name);
    return "problem" in found ? [found.problem] : [];
  });
  test.skipIf(problems.length > 0)(
    `loses what was made up and says less where it said too much${problems.length > 0 ? ` (skipped: ${problems.join(", ")})` : ""}`,
    async () => {
      here.server = await startFakeLlm(model);
      const { root, folder } = prepare([writer, checker], { check: { agent: checker } });
      const cli = (...args: string[]) =>
        run(process.execPath, [join(here.built, "dist", "cli.js"), ...args], root, { RESEARCH_RALPH_CHECK: "" });
      const ended = await cli("run", "hands", "--agent", writer);
      expect(ended.err).not.toContain("refused");
      expect(ended.code).toBe(0);
      expect(ended.err).toMatch(/accepted: \d of \d sentences, \d of \d claims supported/);
      expect(ended.err).toContain("accepted: 1 sentence mended, 1 given up");
      const ledger = readFileSync(join(folder, "ledger.jsonl"), "utf8").trim().split("\n");
      const lines = ledger.map((line) => JSON.parse(line) as LedgerLine);
      expect(lines.map(({ unit, agent, outcome }) => [unit, agent, outcome])).toEqual([
        ["report", writer, "accepted"],
        ["check", checker, "accepted"],
        ["mend", writer, "accepted"],
        ["check", checker, "accepted"],
      ]);
      for (const { tokens } of lines) expect(tokens).toMatchObject({ requests: 1 });

      const kept = JSON.parse(readFileSync(join(folder, "report.json"), "utf8")) as ReportFile;
      expect(kept.findings.map(({ text, check }) => [text, check?.verdict, check?.by])).toEqual([
        [right, "supported", [checker]],
        [corrected, "supported", [checker]],
      ]);
      expect(kept.not_borne_out?.map(({ text }) => text)).toEqual([madeUp]);
      expect(kept.check?.unproven).toBeUndefined();
      const told = await cli("report", "hands");
      expect(told.code).toBe(0);
      expect(told.out.replace(/\s+/g, " ")).toContain(`cite, checked by ${checker}; 1 corrected; 1 removed.`);
      const documents = ["research-report.md", "report.html"].map((name) => readFileSync(join(folder, name), "utf8"));
      for (const document of documents) {
        expect(document).toContain(corrected);
        expect(document).not.toContain(overstated.slice(0, 40));
        // It stands once, under what was not supported, with the reason.
        expect(document.split(madeUp).length - 1).toBe(1);
        expect(document).toContain("Nothing is said of costs.");
        expect(document).toMatch(new RegExp(`supported by the sentences they cite, checked by ${checker}`));
      }

      // So does an answer to a question.
      const asked = await cli(
        "ask",
        "hands",
        "What helps grip strength and finger reach?",
        "--check",
        "--agent",
        writer,
      );
      expect(asked.err).not.toContain("refused");
      expect(asked.code).toBe(0);
      const [first = "", then = ""] = asked.out.replace(/\s+/g, " ").split("Checked: ");
      expect(first).toContain(`${right} [1] ${overstated} [2] ${madeUp} [3]`);
      expect(first).toContain(`${right} [1] ✓✓ ${corrected} [2] ✓✓`);
      expect(then).toMatch(
        new RegExp(
          `^2 of 3 sentences supported .* checked by ${checker}; 1 corrected; 1 removed\\. .*taken out: ${madeUp}`,
        ),
      );
      const [answer] = JSON.parse((await cli("answers", "hands", "--json")).out) as StoredAnswer[];
      expect(answer?.statements.map(({ text, check }) => [text, check?.verdict, check?.by])).toEqual([
        [right, "supported", [checker]],
        [corrected, "supported", [checker]],
      ]);
      expect(answer?.not_borne_out?.map(({ text, check }) => [text, check.why])).toEqual([
        [madeUp, "Nothing is said of costs."],
      ]);
      for (const name of ["research-report.md", "report.html"])
        expect(readFileSync(join(folder, name), "utf8").split(madeUp)).toHaveLength(3);
    },
  );
});
