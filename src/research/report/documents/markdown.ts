import { headlineOf } from "../../../engine/ui/state-text.js";
import { inline } from "../../project-files/markdown.js";
import type { ReportModel } from "../model.js";
import { evidenceText } from "../sections/sections-in-markdown.js";
import { sectionsWithContent, sections } from "../sections/sections.js";

/**
 * The text of research-report.md: the sections in the order of the page, with the evidence at the end. Empty sections
 * are left out.
 */
export function markdownOf(model: ReportModel): string {
  const shownSections = sectionsWithContent(model);
  const parts = sections.flatMap(({ name, title, isAlways, markdown }) =>
    markdown !== undefined && (isAlways || shownSections.has(name))
      ? [`## ${title}\n\n${markdown(model, shownSections)}`]
      : [],
  );
  const evidence = evidenceText(model);
  return withoutDeadLinks(
    `${[
      `# ${inline(model.title)}`,
      byline(model),
      ...model.warnings.map(({ says }) => `> **Warning:** ${inline(says)}`),
      ...parts,
      ...(evidence === "" ? [] : [`## Evidence\n\n${evidence}`]),
      "---",
      `*Made by research-ralph on ${model.renderedAt.slice(0, 10)} from rrd.json${model.narrative === "data" ? " and report.json" : ""}: the sentences are the agent's, every number, table and mark is derived by code. \`research-ralph report\` renders it again.*`,
    ].join("\n\n")}\n`,
  );
}

/** Replaces a link by its words if this file has no anchor for it. */
function withoutDeadLinks(text: string): string {
  const anchors = new Set([...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id));
  return text.replace(/\[((?:\\.|[^\\[\]])*)\]\(#([^()\s]+)\)/g, (link, words: string, id: string) =>
    anchors.has(id) ? link : words,
  );
}

const byline = ({ isFinished, phase, day, agents }: ReportModel): string =>
  [
    headlineOf({ isFinished, stage: phase.toLowerCase() }),
    day,
    agents.length === 0 ? "" : `read by ${inline(agents.join(", "))}`,
  ]
    .filter((part) => part !== "")
    .join(" · ");
