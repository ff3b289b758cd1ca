import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentOptions } from "../../../src/engine/agents/definition.js";
import type { Answers } from "../../../src/research/generated/result-analysis.js";
import type { Criterion } from "../../../src/research/generated/rrd.js";
import { newRrd } from "../../../src/research/workflow/new-research.js";
import type { Answer, ModelRequest } from "../../fixtures/fake-llm/server.js";
import { narrative, reading } from "./research.js";
import { unitOf } from "./small-project.js";

/** What the criteria of a trial project ask. */
export const trialCriteria: readonly Criterion[] = [
  { id: "c1", kind: "include", text: "patients were allocated at random" },
  { id: "c2", kind: "include", text: "participants are adults" },
  { id: "c3", kind: "include", text: "accuracy is reported" },
  { id: "c4", kind: "exclude", text: "the subjects are animals" },
  { id: "c5", kind: "exclude", text: "only an abstract was published" },
];

/** Sentences that answer a criterion, and how. */
const sentences: readonly { readonly id: string; readonly answer: "yes" | "no"; readonly text: string }[] = [
  { id: "c1", answer: "yes", text: "Patients were allocated at random to one of two groups." },
  { id: "c2", answer: "yes", text: "All of the participants were adults of eighteen years or more." },
  { id: "c2", answer: "no", text: "All of the participants were children below ten years." },
  { id: "c3", answer: "yes", text: "The method reached 87.5 percent accuracy on 1200 samples." },
  { id: "c4", answer: "yes", text: "The drug was tested in forty laboratory mice." },
  { id: "c4", answer: "no", text: "No animals took part in any stage of the study." },
  { id: "c5", answer: "no", text: "This article is the full report of the trial." },
];
const rest = "It needs 14 minutes on one machine.";

/** Of each paper: the sentences of its abstract, and those that only its text has. */
const papers: Readonly<Record<string, { readonly abstract: readonly number[]; readonly text: readonly number[] }>> = {
  adults: { abstract: [0, 1, 3], text: [5, 6] },
  // Its abstract says that the subjects are animals: it is not read.
  mice: { abstract: [0, 4], text: [3] },
  // Only its text says that the participants are children.
  children: { abstract: [0], text: [2, 3, 5, 6] },
  // Nothing says whether animals took part.
  silent: { abstract: [0, 1], text: [3, 6] },
};

/**
 * A git repository in `folder` with four papers in Markdown and a project over them with five eligibility criteria;
 * returns its path.
 */
export function trialProject(folder: string, agents: Readonly<Record<string, AgentOptions>>): string {
  const root = join(folder, "repo");
  mkdirSync(join(root, "papers"), { recursive: true });
  const said = (indices: readonly number[]) => indices.map((index) => sentences[index]?.text).join(" ");
  for (const [name, { abstract, text }] of Object.entries(papers)) {
    const head = ["---", `id: ${name}`, `title: "A trial called ${name}"`, `abstract: "${said(abstract)}"`, "---"];
    const body = [`# A trial called ${name}`, "## 1 Methods", said([...abstract, ...text]), "## 2 Results", rest];
    writeFileSync(join(root, "papers", `${name}.md`), [...head, "", body.join("\n\n"), ""].join("\n"));
  }
  const wishes = { papers: 10, sources: ["folder:papers"], criteria: trialCriteria };
  const name = "a small trial";
  const rrd = newRrd(wishes, { name, description: "Trials.", focus_area: "trials", keywords: ["trial"] });
  const research = join(root, "researches", "small-trial");
  mkdirSync(research, { recursive: true });
  writeFileSync(join(research, "rrd.json"), JSON.stringify({ ...rrd, handoff: null }, null, 2));
  writeFileSync(join(root, "ralph.config.json"), JSON.stringify({ agents, state_dir: join(folder, "state") }));
  execFileSync("git", ["init", "-q", root]);
  return root;
}

/** Answers to the criteria as the text in front of a reader has them. */
export function answersFrom(text: string): Answers {
  const found = trialCriteria.map(({ id }): [string, Answers[string]] => {
    const sentence = sentences.find((each) => each.id === id && text.includes(each.text));
    return [id, sentence === undefined ? { answer: "unclear" } : { answer: sentence.answer, quote: sentence.text }];
  });
  return Object.fromEntries(found);
}

/** A model that answers the criteria from what a brief shows, and gives each result as its final message. */
export function trialReader(request: ModelRequest): Answer {
  const unit = unitOf(request);
  const json = JSON.stringify(trialResult(unit, request.user));
  const isLast = request.user.includes("<promise>COMPLETE</promise>");
  return { text: isLast ? `${json}\n\n<promise>COMPLETE</promise>` : json };
}

function trialResult(unit: ReturnType<typeof unitOf>, brief: string): object {
  switch (unit.kind) {
    case "discovery":
      return {
        unit: unit.unit,
        kept: (unit.candidates as { id: string; abstract?: string }[]).map(({ id, abstract = "" }) => ({
          id,
          criteria: answersFrom(abstract),
        })),
        papers: [],
        sources: [],
      };
    case "paper": {
      const evidence = [{ claim: "It is quick.", quote: rest }];
      return reading(unit.unit, { evidence, criteria: answersFrom(brief.slice(brief.indexOf("<untrusted-text"))) });
    }
    default:
      return narrative({}, "adults#1");
  }
}
