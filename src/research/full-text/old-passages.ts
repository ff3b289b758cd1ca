import { abstractLocator, hashOf } from "../../text/evidence/check-evidence.js";
import { withNumbers } from "../../text/evidence/numbers/check-numbers.js";
import type { Searchable } from "../../text/evidence/find-quote.js";
import { keptPassage } from "../../text/evidence/quoted.js";
import type { Answer, Evidence, Paper, Rrd } from "../generated/rrd.js";
import { searchUntrusted } from "./reader-process.js";
import { keptText } from "./text-cache.js";

/** Kept by an earlier version: the agent's spelling of words that were found, without their sentence. */
const isWithout = ({ status, passage, quote }: Evidence): boolean =>
  (status === "verified" || status === "near") && passage === undefined && quote !== undefined;

/** The same of an answer to a criterion. The quote of an unclear one was not found. */
const isAnswerWithout = ({ answer, passage, quote }: Answer): boolean =>
  answer !== "unclear" && passage === undefined && quote !== undefined && quote.trim() !== "";

const lacksPassages = ({ analysis, answers }: Paper): boolean =>
  analysis?.evidence?.some(isWithout) === true || answers?.some(isAnswerWithout) === true;

/** Whether records of a project were written before quotes had passages. */
export const lackPassages = ({ papers_pool: papers }: Rrd): boolean => papers.some(lacksPassages);

/**
 * A project whose old records have the passages of their quotes, found in the texts that are kept; the same project
 * where it has no such record. One whose text is gone, or is another by now, stays as it is.
 */
export async function withPassages(cacheDir: string, rrd: Rrd): Promise<Rrd> {
  if (!lackPassages(rrd)) return rrd;
  const papers: Paper[] = [];
  for (const paper of rrd.papers_pool) papers.push(await paperWithPassages(cacheDir, paper));
  return { ...rrd, papers_pool: papers };
}

/** The same of one paper. */
export async function paperWithPassages(cacheDir: string, paper: Paper): Promise<Paper> {
  if (!lacksPassages(paper)) return paper;
  const { analysis, abstract, title, answers = [] } = paper;
  const evidence = analysis?.evidence ?? [];
  const stored = await keptText(cacheDir, paper.id);
  const found = new Map<Evidence | Answer, Evidence | Answer>();
  const lookIn = async (text: Searchable, wanted: readonly (Evidence | Answer)[]): Promise<void> => {
    if (wanted.length === 0) return;
    const search = await searchUntrusted(
      "findQuotes",
      text,
      wanted.map(({ quote = "" }) => quote),
    );
    if ("cut" in search) return;
    for (const [index, each] of wanted.entries()) {
      const match = search.value[index];
      const passage = match?.found === true ? match : each["status"] === "near" ? match?.near : undefined;
      if (passage === undefined) continue;
      const { quote: _, ...rest } = each;
      found.set(each, { ...rest, ...keptPassage(passage) } as Evidence | Answer);
    }
  };
  const quotes = evidence.filter(isWithout);
  const said = answers.filter(isAnswerWithout);
  const isOf = (sha256: string) => (each: Evidence) => (each.text_sha256 ?? paper.text_sha256) === sha256;
  const isOfAbstract = ({ locator }: Evidence | Answer) => locator === abstractLocator;
  const isOfTitle = ({ locator }: Answer) => locator === "title";
  if (stored !== undefined)
    await lookIn(stored, [
      ...quotes.filter((each) => !isOfAbstract(each)).filter(isOf(stored.sha256)),
      ...(paper.text_sha256 === stored.sha256 ? said.filter((each) => !isOfAbstract(each) && !isOfTitle(each)) : []),
    ]);
  if (abstract != null)
    await lookIn({ text: abstract }, [
      ...quotes.filter(isOfAbstract).filter(isOf(hashOf(abstract))),
      ...said.filter(isOfAbstract),
    ]);
  await lookIn({ text: title }, said.filter(isOfTitle));
  if (found.size === 0) return paper;
  const upgraded = <Item extends Evidence | Answer>(items: readonly Item[]): Item[] =>
    items.map((each) => (found.get(each) as Item | undefined) ?? each);
  // The numbers of a claim are those that none of its quotes holds; what was not found stays as it is.
  const numbered = withNumbers(upgraded(evidence));
  return {
    ...paper,
    ...(analysis == null || analysis.evidence === undefined
      ? {}
      : {
          analysis: {
            ...analysis,
            evidence: evidence.map((each, index) => (found.has(each) ? (numbered[index] ?? each) : each)),
          },
        }),
    ...(paper.answers === undefined ? {} : { answers: upgraded(answers) }),
  };
}
