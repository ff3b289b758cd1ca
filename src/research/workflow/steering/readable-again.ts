import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Tell } from "../../../engine/loop/types.js";
import { changesBetween } from "../../../engine/storage/state/hand-edits/merge-hand-edits.js";
import { readingAttempt } from "../../full-text/find-text.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { abstractOf } from "../../papers/read-depth.js";
import { progressEntry } from "../../project-files/progress-log.js";
import type { Research } from "../../project-files/research.js";
import { removeReading } from "../../units/reading/unread-paper.js";
import { researchFormat } from "../../project-files/rrd-file.js";

/** A paper that the user marked as not retrieved stays so until the user decides otherwise. */
const waitsForText = ({ status, override }: Paper): boolean =>
  status === "not_retrieved" && override?.decision !== "not_retrieved";

/**
 * Makes papers pending again that could not be retrieved, if the user has since added a file, another address or an
 * abstract. Reads only files, no services. Returns whether there was such a paper.
 */
export async function reopenReadable(
  research: Pick<Research, "fold" | "nextIteration">,
  rrd: Rrd,
  { now, tell }: { readonly now: () => number; readonly tell: Tell },
): Promise<boolean> {
  const missingPapers = rrd.papers_pool.filter(waitsForText);
  const hasNewText = await Promise.all(missingPapers.map(hasMoreToRead));
  const readablePapers = missingPapers.filter((_, index) => hasNewText[index]);
  for (const paper of readablePapers) {
    const iteration = research.nextIteration();
    const time = new Date(now()).toISOString();
    const message = `There is something new to read of ${paper.id}, which could not be retrieved; it is pending again.`;
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

/** The state after an edit in which papers that could not be retrieved got a file; these are pending again. Pure. */
export const withNewTexts = (before: Rrd, after: Rrd): Rrd => {
  const files = new Map(before.papers_pool.map(({ id, pdf_url: file }) => [id, file]));
  return after.papers_pool
    .filter((paper) => waitsForText(paper) && files.has(paper.id) && files.get(paper.id) !== paper.pdf_url)
    .reduce(pendingAgain, after);
};

const hasMoreToRead = async (paper: Paper): Promise<boolean> =>
  abstractOf(paper) !== "" || (await readingAttempt(paper)) !== paper.not_retrieved?.tried;

/** The state with this paper pending. A decision of the user on it stays. */
function pendingAgain(rrd: Rrd, paper: Paper): Rrd {
  const { id, override } = paper;
  const after = removeReading(rrd, paper);
  const pool = after.papers_pool.map((candidate) =>
    candidate.id === id ? { ...candidate, ...withoutUndefined({ override }) } : candidate,
  );
  return { ...after, papers_pool: pool };
}
