import { estimateTokens } from "../../../engine/lib/tokens.js";
import type { Criterion } from "../../generated/rrd.js";

/** The section of a brief that asks for answers to the criteria, without its heading; empty without criteria. */
export function criteriaSection(kind: "screening" | "full_text", criteria: readonly Criterion[]): string {
  if (criteria.length === 0) return "";
  const [first, second] = criteria;
  const quoteHint = kind === "screening" ? "words copied exactly from its abstract or title" : "the paper's words";
  const example = [
    `"${first?.id}": {"answer": "yes", "quote": "${quoteHint}"}`,
    ...(second === undefined ? [] : [`"${second.id}": {"answer": "unclear"}`]),
  ].join(", ");
  const list = criteria.map(
    ({ id, kind: criterionKind, text }) => `- ${id} (${criterionKind}): ${text.replace(/\s+/g, " ")}`,
  );
  return [instructions[kind], `\`"criteria": {${example}}\``, explanations[kind], list.join("\n")].join("\n\n");
}

const instructions = {
  screening:
    "They alone decide what goes to full text. Judge every candidate: each entry of `kept`, `dropped` and `papers` carries one more field with an answer to every criterion, from its title and abstract:",
  full_text:
    "They alone decide whether the paper is included. The result carries one more field with an answer to every criterion, from the paper's text:",
};

const answers =
  "yes: it is true of the paper; no: it is not. A quote has at least four words. For no, quote words that show otherwise: that the subjects were patients, where animals are asked about. Code looks for each quote; yes or no without one that it finds counts as unclear, so say unclear, without a quote, where nothing settles it.";
const explanations = {
  screening: `${answers} A record is excluded by yes to an \`exclude\` criterion or no to an \`include\` criterion; every other one goes to full text, dropped ones too.`,
  full_text: `${answers} Yes to an \`exclude\` criterion or no to an \`include\` criterion excludes the paper. Fill in everything else all the same.`,
};

/** Estimated tokens of the criteria in a discovery brief. */
export const screeningWordsTokens = (criteria: readonly Criterion[]): number =>
  estimateTokens(criteriaSection("screening", criteria));
