import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Unit } from "../../../src/engine/loop/types.js";
import type { AgentNotes } from "../../../src/engine/storage/agent-notes.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import type { Library } from "../../../src/research/units/unit-kind.js";
import { briefFor } from "../../../src/research/workflow/brief/write-brief.js";
import { derive } from "../../../src/research/workflow/derive.js";
import { nextUnit } from "../../../src/research/workflow/next-unit.js";
import { statusOf } from "../../../src/research/workflow/next-unit.js";
import { workspacesOf } from "../../../src/research/workflow/workspace.js";
import { library, materialFor, paper, rrdWith, temporaryFolder } from "./research.js";

const made = new Map<string, string>();
/** `count` words, made once a kind: thousands of records share them. */
export function words(count: number, seed: string): string {
  const text =
    made.get(`${count} ${seed}`) ?? Array.from({ length: count }, (_, index) => `${seed}${index % 97}word`).join(" ");
  made.set(`${count} ${seed}`, text);
  return text;
}

/** A research with everything large: long titles, abstracts, summaries, insights, glossary and AGENTS.md. */
export function large(decided: number, pending: number): Rrd {
  const papers = Array.from({ length: decided + pending }, (_, index) =>
    paper(`p${index}`, {
      title: `Paper ${index} ${words(30, "title")}`,
      abstract: words(400, "abstract"),
      ...(index < decided
        ? {
            status: "presented" as const,
            score: 30,
            decision: "PRESENT",
            analysis: {
              summary: words(300, "sum"),
              results: words(300, "res"),
              methodology: "m",
              limitations: "l",
              evidence: Array.from({ length: 8 }, (_unused, number) => ({
                claim: words(20, "claim"),
                quote: `In ${index + number} trials ${words(60, "quote")}.`,
                status: "verified" as const,
                locator: "§ 3 Results",
              })),
            },
          }
        : {}),
    }),
  );
  const insights = Array.from({ length: decided * 3 }, (_, index) => ({
    id: `insight_${index}`,
    paper_id: `p${index % (decided || 1)}`,
    insight: words(100, "title"),
    tags: ["t"],
  }));
  const terms = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`T${index}`, words(20, "term")]));
  return rrdWith(papers, { insights, description: words(800, "d"), domain_glossary: { enabled: true, terms } });
}

export async function briefOf(
  rrd: Rrd,
  unit?: Unit,
  given: Library = library(),
  root = temporaryFolder(),
  agentNotes: readonly AgentNotes[] = [],
) {
  writeFileSync(
    join(root, "AGENTS.md"),
    Array.from({ length: 60 }, (_, index) => `## Part ${index}\n\n${words(120, "rule")}\n`).join("\n"),
  );
  const derived = derive(rrd, []);
  const state = {
    rrd: derived,
    ledger: [],
    status: statusOf(derived, []),
    agentNotes: new Map(unit === undefined ? [] : [[unit.id, agentNotes]]),
  };
  const next = unit ?? nextUnit(state, [], [], "/my-research");
  if (next === "wait" || !("id" in next)) throw new Error("nothing to do");
  const workspace = temporaryFolder();
  const where = { folder: root, root, services: given.services, workspaces: workspacesOf(root, root) };
  const material = (await materialFor(given, state, next)) ?? {};
  return { ...(await briefFor(where, state, next, material, {}, 1, workspace)).brief, workspace };
}
