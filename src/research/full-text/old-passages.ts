import { abstractLocator, hashOf } from "../evidence/check-evidence.js";
import type { Searchable } from "../evidence/find-quote.js";
import { keptPassage } from "../evidence/quoted.js";
import type { Evidence, Paper, Rrd } from "../generated/rrd.js";
import { searchUntrusted } from "./reader-process.js";
import { keptText } from "./text-cache.js";

/** Kept by an earlier version: the agent's spelling of words that were found, without their sentence. */
const isWithout = ({ status, passage, quote }: Evidence): boolean =>
  status === "verified" && passage === undefined && quote !== undefined;

/** Whether records of a project were written before quotes had passages. */
export const lackPassages = ({ papers_pool: papers }: Rrd): boolean =>
  papers.some(({ analysis }) => analysis?.evidence?.some(isWithout) === true);

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

async function paperWithPassages(cacheDir: string, paper: Paper): Promise<Paper> {
  const { analysis, abstract } = paper;
  const evidence = analysis?.evidence ?? [];
  if (analysis == null || !evidence.some(isWithout)) return paper;
  const stored = await keptText(cacheDir, paper.id);
  const found = new Map<Evidence, Evidence>();
  const lookIn = async (text: Searchable, sha256: string, isOf: (each: Evidence) => boolean): Promise<void> => {
    const wanted = evidence.filter(
      (each) => isWithout(each) && isOf(each) && (each.text_sha256 ?? paper.text_sha256) === sha256,
    );
    if (wanted.length === 0) return;
    const search = await searchUntrusted(
      "findQuotes",
      text,
      wanted.map(({ quote = "" }) => quote),
    );
    if ("cut" in search) return;
    for (const [index, each] of wanted.entries()) {
      const match = search.value[index];
      if (match?.found !== true) continue;
      const { quote: _, ...rest } = each;
      found.set(each, { ...rest, ...keptPassage(match) });
    }
  };
  const isOfAbstract = ({ locator }: Evidence) => locator === abstractLocator;
  if (stored !== undefined) await lookIn(stored, stored.sha256, (each) => !isOfAbstract(each));
  if (abstract != null) await lookIn({ text: abstract }, hashOf(abstract), isOfAbstract);
  if (found.size === 0) return paper;
  return { ...paper, analysis: { ...analysis, evidence: evidence.map((each) => found.get(each) ?? each) } };
}
