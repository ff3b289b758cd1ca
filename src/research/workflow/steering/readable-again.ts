import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Tell } from "../../../engine/loop/types.js";
import { changesBetween } from "../../../engine/storage/state/hand-edits/merge-hand-edits.js";
import { readingAttempt } from "../../full-text/find-text.js";
import { localFile } from "../../full-text/local-file.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { nameOf } from "../../papers/paper-keys.js";
import { abstractOf, waitsForText } from "../../papers/read-depth.js";
import { progressEntry } from "../../project-files/progress-log.js";
import type { Research } from "../../project-files/research.js";
import { removeReading } from "../../units/reading/unread-paper.js";
import { researchFormat } from "../../project-files/rrd-file.js";

/**
 * Makes papers pending again that could not be retrieved, if the user has since added a file, another address or an
 * abstract, and papers that were read from their abstracts alone, if the user has since added a file. Looks only at
 * files, asks no services. Returns whether there was such a paper.
 */
export async function reopenReadable(
  research: Pick<Research, "fold" | "nextIteration">,
  rrd: Rrd,
  { now, tell }: { readonly now: () => number; readonly tell: Tell },
): Promise<boolean> {
  const waitingPapers = rrd.papers_pool.filter(waitsForText);
  const hasNewText = await Promise.all(waitingPapers.map(hasMoreToRead));
  const readablePapers = waitingPapers.filter((_, index) => hasNewText[index]);
  for (const paper of readablePapers) {
    const iteration = research.nextIteration();
    const time = new Date(now()).toISOString();
    const before = paper.status === "not_retrieved" ? "could not be retrieved" : "was read from its abstract";
    const message = `There is something new to read of ${nameOf(paper)}, which ${before}; it is pending again.`;
    await research.fold({
      iteration,
      at: time,
      message: `${paper.id}: pending again`,
      changes: changesBetween(researchFormat, rrd, pendingAgain(rrd, paper)),
      progress: progressEntry(message, iteration),
      ledger: { iteration, at: time, unit: paper.id, phase: "ANALYSIS", outcome: "reset" },
    });
    await tell({ type: "notice", level: "info", message });
  }
  return readablePapers.length > 0;
}

async function hasMoreToRead(paper: Paper): Promise<boolean> {
  if (paper.status === "not_retrieved")
    return abstractOf(paper) !== "" || (await readingAttempt(paper)) !== paper.not_retrieved?.tried;
  // Without a number, an agent of a classic run read it, and nobody knows what it tried.
  if (localFile(paper) === undefined || paper.iteration === undefined) return false;
  const attempt = await readingAttempt(paper);
  // The file may be missing: a project can be copied without its documents.
  return attempt !== "" && attempt !== paper.text_tried;
}

/** The state with this paper pending. A decision of the user on it stays. */
function pendingAgain(rrd: Rrd, paper: Paper): Rrd {
  const { id, override } = paper;
  const after = removeReading(rrd, paper);
  const pool = after.papers_pool.map((candidate) =>
    candidate.id === id ? { ...candidate, ...withoutUndefined({ override }) } : candidate,
  );
  return { ...after, papers_pool: pool };
}
