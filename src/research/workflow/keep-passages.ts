import { isDeepStrictEqual } from "node:util";
import { ExpectedError } from "../../engine/lib/errors.js";
import { lackPassages, withPassages } from "../full-text/old-passages.js";
import type { Paper, Rrd } from "../generated/rrd.js";
import { textsFolder } from "../project-files/layout.js";
import { editResearch } from "../project-files/edit-by-command.js";
import { readResearch } from "../project-files/research.js";
import { derive } from "./derive.js";

/**
 * Writes the passages of old records into rrd.json, where their texts are kept. Does nothing while a run holds the
 * project or its state can't be read: who shows the records finds their passages for itself until then.
 */
export async function keepPassages(folder: string, git: boolean, notify: (message: string) => void): Promise<void> {
  try {
    const { rrd } = await readResearch(folder);
    if (!lackPassages(rrd)) return;
    const searched = new Map(rrd.papers_pool.map((paper) => [paper.id, paper]));
    const found = new Map((await withPassages(textsFolder(folder), rrd)).papers_pool.map((paper) => [paper.id, paper]));
    const change = (now: Rrd): Rrd => ({
      ...now,
      papers_pool: now.papers_pool.map((paper) => withFound(paper, searched.get(paper.id), found.get(paper.id))),
    });
    await editResearch(folder, change, { derive, git, notify: (_, message) => notify(message) });
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
  }
}

/** A paper with what was found for its items. One that was edited or read anew since it was searched stays as it is. */
export function withFound(now: Paper, searched: Paper | undefined, found: Paper | undefined): Paper {
  if (searched === undefined || found === undefined || searched === found) return now;
  const isSameText = (["title", "abstract", "text_sha256"] as const).every((field) => now[field] === searched[field]);
  if (!isSameText) return now;
  const replaced = <Item>(items: readonly Item[], before: readonly Item[] = [], after: readonly Item[] = []): Item[] =>
    items.map((item, index) => (isDeepStrictEqual(item, before[index]) ? (after[index] ?? item) : item));
  const { analysis, answers } = now;
  const evidence = analysis?.evidence;
  return {
    ...now,
    ...(analysis == null || evidence === undefined
      ? {}
      : {
          analysis: {
            ...analysis,
            evidence: replaced(evidence, searched.analysis?.evidence, found.analysis?.evidence),
          },
        }),
    ...(answers === undefined ? {} : { answers: replaced(answers, searched.answers, found.answers) }),
  };
}
