import { abstractLocator, hashOf } from "../../text/evidence/check-evidence.js";
import { withNumbers } from "../../text/evidence/numbers/check-numbers.js";
import type { Searchable } from "../../text/evidence/find-quote.js";
import { passageFields } from "../../text/evidence/quoted.js";
import type { Answer, Evidence, Paper, Rrd } from "../generated/rrd.js";
import { searchUntrusted } from "./reader-process.js";
import { lastCachedText } from "./text-cache.js";

/**
 * Written by an earlier version: the quote was found, but only the agent's spelling was recorded, without the passage
 * of the text.
 */
const lacksPassage = ({ status, passage, quote }: Evidence): boolean =>
  (status === "verified" || status === "near") && passage === undefined && quote !== undefined;

/** The same for an answer to a criterion. An unclear answer has no confirmed quote. */
const answerLacksPassage = ({ answer, passage, quote }: Answer): boolean =>
  answer !== "unclear" && passage === undefined && quote !== undefined && quote.trim() !== "";

const lacksPassages = ({ analysis, answers }: Paper): boolean =>
  analysis?.evidence?.some(lacksPassage) === true || answers?.some(answerLacksPassage) === true;

/** Whether records of a project were written before quotes had passages. */
export const lackPassages = ({ papers_pool: papers }: Rrd): boolean => papers.some(lacksPassages);

/**
 * Adds passages to a project's old records, from the cached texts. Returns the same project if it has no old records. A
 * record stays unchanged if its text is missing or has changed.
 */
export async function withPassages(cacheDir: string, rrd: Rrd): Promise<Rrd> {
  if (!lackPassages(rrd)) return rrd;
  const papers: Paper[] = [];
  for (const paper of rrd.papers_pool) papers.push(await paperWithPassages(cacheDir, paper));
  return { ...rrd, papers_pool: papers };
}

/** Does the same for one paper. */
export async function paperWithPassages(cacheDir: string, paper: Paper): Promise<Paper> {
  if (!lacksPassages(paper)) return paper;
  const { analysis, abstract, title, answers = [] } = paper;
  const evidence = analysis?.evidence ?? [];
  const stored = await lastCachedText(cacheDir, paper.id);
  const upgradedItems = new Map<Evidence | Answer, Evidence | Answer>();
  const addPassagesFrom = async (text: Searchable, items: readonly (Evidence | Answer)[]): Promise<void> => {
    if (items.length === 0) return;
    const search = await searchUntrusted(
      "findQuotes",
      text,
      items.map(({ quote = "" }) => quote),
    );
    if ("cut" in search) return;
    for (const [index, item] of items.entries()) {
      const match = search.value[index];
      const passage = match?.found === true ? match : item["status"] === "near" ? match?.near : undefined;
      if (passage === undefined) continue;
      const { quote: _, ...rest } = item;
      upgradedItems.set(item, { ...rest, ...passageFields(passage) } as Evidence | Answer);
    }
  };
  const oldEvidence = evidence.filter(lacksPassage);
  const oldAnswers = answers.filter(answerLacksPassage);
  const isFromText = (sha256: string) => (item: Evidence) => (item.text_sha256 ?? paper.text_sha256) === sha256;
  const isFromAbstract = ({ locator }: Evidence | Answer) => locator === abstractLocator;
  const isFromTitle = ({ locator }: Answer) => locator === "title";
  if (stored !== undefined)
    await addPassagesFrom(stored, [
      ...oldEvidence.filter((item) => !isFromAbstract(item)).filter(isFromText(stored.sha256)),
      ...(paper.text_sha256 === stored.sha256
        ? oldAnswers.filter((item) => !isFromAbstract(item) && !isFromTitle(item))
        : []),
    ]);
  if (abstract != null)
    await addPassagesFrom({ text: abstract }, [
      ...oldEvidence.filter(isFromAbstract).filter(isFromText(hashOf(abstract))),
      ...oldAnswers.filter(isFromAbstract),
    ]);
  await addPassagesFrom({ text: title }, oldAnswers.filter(isFromTitle));
  if (upgradedItems.size === 0) return paper;
  const upgradedList = <Item extends Evidence | Answer>(items: readonly Item[]): Item[] =>
    items.map((item) => (upgradedItems.get(item) as Item | undefined) ?? item);
  // Numbers of a claim that no quote contains are computed again; items that were not found stay unchanged.
  const numbered = withNumbers(upgradedList(evidence));
  return {
    ...paper,
    ...(analysis == null || analysis.evidence === undefined
      ? {}
      : {
          analysis: {
            ...analysis,
            evidence: evidence.map((item, index) => (upgradedItems.has(item) ? (numbered[index] ?? item) : item)),
          },
        }),
    ...(paper.answers === undefined ? {} : { answers: upgradedList(answers) }),
  };
}
