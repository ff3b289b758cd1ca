import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Paper, Rrd } from "../generated/rrd.js";
import { timeForName } from "../../engine/storage/file-timestamp.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { formatRrd, parseRrd } from "../folder/rrd-file.js";
import { isDecided } from "./decisions/status.js";
import { progressFile, rrdFile, rrdName } from "../folder/layout.js";

/** What is settled once a paper is decided: 'reset --paper' opens it again, an agent does not. */
const judgement = ["status", "decision", "score", "score_breakdown"] as const;

/**
 * Puts back what an agent that edits rrd.json itself broke or lost; a broken file is kept beside it, and of a valid one everything
 * that is new stays. Answers with what was wrong, a sentence each.
 */
export async function restoreRecords(folder: string, before: Rrd, at: Date): Promise<string[]> {
  const path = rrdFile(folder);
  const text = await readRegularText(path).catch(() => undefined);
  if (text === undefined) {
    await writeFileAtomic(path, formatRrd(before));
    return ["rrd.json was left deleted and was restored"];
  }
  const { ok: now, problems } = parseRrd(text, rrdName);
  if (now === undefined) {
    const broken = `rrd.json.broken-${timeForName(at.getTime())}`;
    await rename(path, join(folder, broken));
    await writeFileAtomic(path, formatRrd(before));
    const [first] = problems;
    const what = first === undefined ? "" : ` (${first.pointer === "" ? "" : `${first.pointer} `}${first.message})`;
    return [`rrd.json was left broken${what} and was restored; the broken one is ${broken}`];
  }

  const old = new Map(before.papers_pool.map((paper) => [paper.id, paper]));
  const isUndone = (paper: Paper) => {
    const was = old.get(paper.id);
    return (
      was !== undefined && isDecided(was) && (!isDecided(paper) || (was.analysis != null && paper.analysis == null))
    );
  };
  const isRejudged = (paper: Paper) => {
    const was = old.get(paper.id);
    return (
      was !== undefined &&
      isDecided(was) &&
      !isUndone(paper) &&
      judgement.some((field) => !isDeepStrictEqual(was[field], paper[field]))
    );
  };
  const papers = missing(before.papers_pool, now.papers_pool);
  const undone = now.papers_pool.filter(isUndone);
  const rejudged = now.papers_pool.filter(isRejudged);
  const insights = missing(before.insights ?? [], now.insights ?? []);
  const lost = [
    ...(papers.length > 0 ? [`${counted(papers.length, "paper")} removed`] : []),
    ...(undone.length > 0 ? [`${counted(undone.length, "analysis", "analyses")} removed`] : []),
    ...(insights.length > 0 ? [`${counted(insights.length, "insight")} removed`] : []),
    ...(rejudged.length > 0 ? [`${counted(rejudged.length, "decided paper")} judged anew`] : []),
  ];
  const own = ofThePerson(before, now);
  if (lost.length === 0) {
    if (own !== now) await writeFileAtomic(path, formatRrd(own));
    return [];
  }
  const restored = (paper: Paper): Paper => {
    const was = old.get(paper.id);
    if (was === undefined || isUndone(paper)) return was ?? paper;
    return isRejudged(paper)
      ? { ...paper, ...Object.fromEntries(judgement.map((field) => [field, was[field]])) }
      : paper;
  };
  const pool = [...now.papers_pool.map(restored), ...papers];
  await writeFileAtomic(
    path,
    formatRrd({ ...own, papers_pool: pool, insights: [...(now.insights ?? []), ...insights] }),
  );
  return [`rrd.json was left with ${lost.join(", ")}; the previous content was restored`];
}

/**
 * With what agents have no say in: what the loop remembers, the words of the person among it, and a budget that the agent dropped. One
 * that was changed stays: a person may raise it at any time.
 */
function ofThePerson(before: Rrd, now: Rrd): Rrd {
  const isLoopSame = isDeepStrictEqual(now.loop, before.loop);
  const isBudgetGone = now.budget == null && before.budget != null;
  if (isLoopSame && !isBudgetGone) return now;
  const { loop: _, ...rest } = now;
  return {
    ...rest,
    ...(before.loop === undefined ? {} : { loop: before.loop }),
    ...(isBudgetGone ? { budget: before.budget } : {}),
  };
}

/** Records of `before` whose id is in none of `now`. */
function missing<Item extends { id?: string | null }>(before: readonly Item[], now: readonly Item[]): Item[] {
  const ids = new Set(now.map(({ id }) => id));
  return before.filter(({ id }) => id != null && !ids.has(id));
}

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/**
 * progress.txt only grows: where an agent rewrote it, the earlier text comes back and the agent's version is kept. Answers with what
 * was done. It is no reason to refuse the iteration: the records are whole.
 */
export async function restoreLog(folder: string, before: string, at: Date): Promise<string[]> {
  const path = progressFile(folder);
  const now = await readRegularText(path).catch(() => "");
  if (now.startsWith(before)) return [];
  await writeFileAtomic(path, before);
  if (now.trim() === "") return ["progress.txt was emptied instead of appended to; the earlier text is back"];
  const kept = join(folder, `progress.txt.rewritten-${timeForName(at.getTime())}`);
  await writeFile(kept, now);
  return [
    `progress.txt was rewritten instead of appended to; the earlier text is back, the agent's version is ${kept}`,
  ];
}
