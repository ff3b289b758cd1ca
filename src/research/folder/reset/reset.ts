import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { LedgerLine } from "../../../engine/generated/ledger.js";
import { timeForName } from "../../../engine/storage/file-timestamp.js";
import { ExpectedError } from "../../../engine/lib/errors.js";
import { backUp, copyRegular } from "../backup.js";
import { changesBetween } from "../../../engine/storage/records/record-merge.js";
import { documentNames, documentsAfter } from "../logs/output-files.js";
import { stampOf, writeFileAtomic } from "../../../engine/storage/atomic-file.js";
import { openResearchAfter } from "../research.js";
import type { Fold, ResearchOptions } from "../research-types.js";
import { asksAgain, type ResetTarget, stateAfter } from "./reset-targets.js";
import { formatRrd, readRrdFile } from "../rrd-file.js";
import { invalid, lastRecorded } from "../state-file.js";
import { explaining } from "../../../engine/storage/explain-system-error.js";
import { candidatesFile, lastGoodFile, progressName, rrdName } from "../layout.js";

export type { ResetTarget };

interface ResetOptions {
  readonly derive: ResearchOptions["derive"];
  readonly git: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Takes results back, after a copy of rrd.json, progress.txt, the report and the ideas was put into .ralph/backups/. Nothing is lost in
 * the logs: the reset is an iteration of its own. An rrd.json that was broken by hand is kept beside the last good version, which takes its place.
 * Returns what was done, a sentence each.
 * @throws ExpectedError when another process holds the research, the paper is unknown, or there is no version to go back to.
 */
export async function resetResearch(folder: string, target: ResetTarget, options: ResetOptions): Promise<string[]> {
  const at = new Date(options.now()).toISOString();
  const done: string[] = [];
  const notify = (_: string, message: string) => void done.push(message);
  const research = await openResearchAfter(folder, { ...options, notify }, async () => {
    if ("to" in target) await requireIteration(folder, target.to);
    done.push(
      `A copy of the files as they were is in ${await backUp(folder, options.now(), [rrdName, progressName, ...documentNames])}.`,
    );
    done.push(...(await replaceBroken(folder, at)));
  });
  try {
    const { rrd, ledger } = await research.load();
    const iteration = research.nextIteration();
    const { after, unit, to, sentences } = await stateAfter(folder, target, rrd, ledger);
    const line: LedgerLine = {
      iteration,
      at,
      unit,
      phase: rrd.phase,
      outcome: "reset",
      ...(to === undefined ? {} : { to }),
    };
    const files = await documentsAfter(folder, ledger, line, "all" in target);
    const gone = files.filter(({ text }) => text === null).map(({ name }) => name);
    const all =
      gone.length === 0
        ? sentences
        : [...sentences, `${gone.join(" and ")} ${gone.length === 1 ? "is" : "are"} taken out.`];
    done.push(...all);
    const progress = `---\n\n## ${at} - Reset\n${all.map((sentence) => `- ${sentence}\n`).join("")}\n`;
    const fold: Fold = {
      iteration,
      at,
      message: `reset: ${sentences[0]}`,
      changes: changesBetween(rrd, after),
      progress,
      ledger: line,
      files,
    };
    await research.fold(fold);
    if (asksAgain(target)) await rm(candidatesFile(folder), { force: true });
  } finally {
    await research.close();
  }
  return done;
}

/** @throws ExpectedError where no iteration has that number yet; the last one has, since that is the way back from a broken file. */
async function requireIteration(folder: string, to: number): Promise<void> {
  const last = await lastRecorded(folder);
  if (to > last)
    throw new ExpectedError(
      `There is no iteration ${to} to go back to: ${last === 0 ? "none was recorded yet" : `the last is ${last}`}.`,
      2,
    );
}

async function replaceBroken(folder: string, at: string): Promise<string[]> {
  const path = join(folder, rrdName);
  const { problems } = await readRrdFile(path);
  if (problems === undefined) return [];
  const lastGood = lastGoodFile(folder);
  const good = (await stampOf(lastGood)) === undefined ? undefined : await readRrdFile(lastGood);
  if (good?.ok === undefined) throw await invalid(folder, problems);
  const broken = `${path}.broken-${timeForName(Date.parse(at))}`;
  await explaining(broken, () => copyRegular(path, broken));
  await writeFileAtomic(path, formatRrd(good.ok));
  return [`rrd.json was broken; it is kept as ${broken}, and the last good version is back.`];
}
