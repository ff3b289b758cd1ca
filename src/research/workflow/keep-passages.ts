import { isDeepStrictEqual } from "node:util";
import { ExpectedError } from "../../engine/lib/errors.js";
import { lackPassages, withPassages } from "../full-text/old-passages.js";
import type { Paper, Rrd } from "../generated/rrd.js";
import { textsFolder } from "../project-files/layout.js";
import { editResearch } from "../project-files/edit-by-command.js";
import { readResearch } from "../project-files/research.js";
import { derive } from "./derive.js";

/**
 * Writes the passages of old records into rrd.json, if their texts are stored. Does nothing while a run has locked the
 * project or if its state can't be read: until then, passages are found again each time the records are shown.
 */
export async function keepPassages(folder: string, git: boolean, notify: (message: string) => void): Promise<void> {
  try {
    const { rrd } = await readResearch(folder);
    if (!lackPassages(rrd)) return;
    const searchedPapers = new Map(rrd.papers_pool.map((paper) => [paper.id, paper]));
    const foundPapers = new Map(
      (await withPassages(textsFolder(folder), rrd)).papers_pool.map((paper) => [paper.id, paper]),
    );
    const change = (now: Rrd): Rrd => ({
      ...now,
      papers_pool: now.papers_pool.map((paper) =>
        withFoundPassages(paper, searchedPapers.get(paper.id), foundPapers.get(paper.id)),
      ),
    });
    await editResearch(folder, change, { derive, git, notify: (_, message) => notify(message) });
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
  }
}

/**
 * Returns the paper with the passages that were found for its items; unchanged if it was edited or read again since the
 * search.
 */
export function withFoundPassages(
  paper: Paper,
  searchedPaper: Paper | undefined,
  foundPaper: Paper | undefined,
): Paper {
  if (searchedPaper === undefined || foundPaper === undefined || searchedPaper === foundPaper) return paper;
  const isSameText = (["title", "abstract", "text_sha256"] as const).every(
    (field) => paper[field] === searchedPaper[field],
  );
  if (!isSameText) return paper;
  const replaceItems = <Item>(
    items: readonly Item[],
    before: readonly Item[] = [],
    after: readonly Item[] = [],
  ): Item[] => items.map((item, index) => (isDeepStrictEqual(item, before[index]) ? (after[index] ?? item) : item));
  const { analysis, answers } = paper;
  const evidence = analysis?.evidence;
  return {
    ...paper,
    ...(analysis == null || evidence === undefined
      ? {}
      : {
          analysis: {
            ...analysis,
            evidence: replaceItems(evidence, searchedPaper.analysis?.evidence, foundPaper.analysis?.evidence),
          },
        }),
    ...(answers === undefined ? {} : { answers: replaceItems(answers, searchedPaper.answers, foundPaper.answers) }),
  };
}
