import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentOptions } from "../../../src/engine/agents/definition.js";
import { newRrd } from "../../../src/research/workflow/new-research.js";
import type { Answer, ModelRequest } from "../../fixtures/fake-llm/server.js";
import { makePdf } from "../../fixtures/pdf/make-pdf.js";
import { ideas, narrative, reading, shownHandle } from "./research.js";

/** What the PDFs of a small project say, each on page 2. */
export const facts = [
  "The method reached 87.5 percent accuracy on 1200 samples.",
  "It needs 14 minutes on one machine.",
  "We did not test it on any other machine.",
];

/** A git repository in `folder` with two real PDFs and a project over them; returns its path. */
export async function smallProject(folder: string, agents: Readonly<Record<string, AgentOptions>>): Promise<string> {
  const root = join(folder, "repo");
  mkdirSync(join(root, "papers"), { recursive: true });
  for (const [name, columns] of [
    ["first", 1],
    ["second", 2],
  ] as const) {
    const filler = Array.from(
      { length: 12 },
      (_, index) =>
        `Paragraph ${index} of the ${name} paper describes how the measurements were taken and why nothing else was changed.`,
    );
    const pages = [
      [`Abstract. The ${name} paper measures a small matter.`, ...filler],
      ["Results.", ...facts, ...filler],
    ];
    writeFileSync(
      join(root, "papers", `${name}.pdf`),
      await makePdf({ title: `On the ${name} small matter`, authors: ["Ada Author"], pages, columns }),
    );
  }
  const requirements = {
    name: "a small matter",
    description: "Small matters.",
    focus_area: "matter",
    keywords: ["small", "matter"],
  };
  const research = join(root, "researches", "small-matter");
  mkdirSync(research, { recursive: true });
  writeFileSync(
    join(research, "rrd.json"),
    JSON.stringify(newRrd({ papers: 2, sources: ["folder:papers"], rubric: "original" }, requirements), null, 2),
  );
  writeFileSync(join(root, "ralph.config.json"), JSON.stringify({ agents, state_dir: join(folder, "state") }));
  execFileSync("git", ["init", "-q", root]);
  return root;
}

type UnitData = {
  kind: string;
  unit: string;
  candidates: { id: string; title: string; url: string }[];
  papers: { id: string }[];
  insights: { id: string }[];
};
/** The unit that a brief speaks of. */
export const unitOf = ({ user }: ModelRequest): UnitData =>
  JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(user)?.[1] ?? "null");

/** What a model that does its work well would write for this brief. */
export function resultFor(unit: UnitData): object {
  switch (unit.kind) {
    case "discovery":
      return {
        unit: unit.unit,
        papers: unit.candidates.map(({ id, title, url }) => ({
          id,
          title,
          url,
          priority: 3,
          reason: "it is about the matter",
        })),
        sources: [],
      };
    case "paper":
      return reading(unit.unit, { evidence: facts.map((quote) => ({ claim: "It says so.", quote })) });
    case "report":
      return narrative({}, shownHandle({ ...unit }));
    default: {
      const evidence = { paper_ids: [unit.papers[0]?.id], insight_ids: [unit.insights[0]?.id], notes: "It follows." };
      return { ...ideas(), ideas: ideas().ideas.map((idea) => ({ ...idea, evidence })) };
    }
  }
}

/** Gives the result as its final message, so that one request is all there is. */
export function concise(request: ModelRequest): Answer {
  const json = JSON.stringify(resultFor(unitOf(request)));
  return {
    text: request.user.includes("<promise>COMPLETE</promise>") ? `${json}\n\n<promise>COMPLETE</promise>` : json,
  };
}
