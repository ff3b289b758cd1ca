import type { LedgerLine } from "../../../engine/generated/ledger.js";
import type { Tell } from "../../../engine/loop/types.js";
import {
  type OutsideWorkMessage,
  type ReceivedMessage,
  removeMessage,
} from "../../../engine/storage/state/steering-inbox.js";
import { resetStagnation } from "../../derived/observations.js";
import type { Rrd } from "../../generated/rrd.js";
import { namesIn, withKeys } from "../../papers/paper-keys.js";
import { type NamedPaper, namedIn, withAdded } from "../../papers/records/added-papers.js";
import type { Research } from "../../project-files/research.js";
import { readNarrative } from "../../units/narrative/kept-narrative.js";
import { type FieldDecision, decisionIn } from "../../units/form/settled.js";
import { answerIterationIn, foldAnswer } from "./fold-answer.js";

export interface FoldOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Makes the documents of the project. Absent in classic mode, in which the agent writes them. */
  readonly render?: (shown: {
    readonly folder: string;
    readonly rrd: Rrd;
    readonly ledger: readonly LedgerLine[];
    readonly at: Date;
  }) => Promise<readonly { readonly name: string; readonly text: string }[]>;
}

/**
 * Folds the content of a message: work that was done outside the run, or a request to it. Shows a notice and removes
 * the message afterwards. Folding a message twice changes nothing.
 */
export async function foldBeside(
  research: Pick<Research, "folder" | "load" | "edit" | "fold" | "nextIteration" | "rewrite">,
  message: OutsideWorkMessage & Pick<ReceivedMessage, "id">,
  options: FoldOptions,
  tell: Tell,
): Promise<void> {
  const { beside, id } = message;
  const [answerIteration, papers, fieldDecision] = [answerIterationIn(beside), namedIn(message), decisionIn(message)];
  const notice =
    answerIteration !== undefined
      ? await foldAnswer(research, { ...answerIteration, message: id })
      : papers !== undefined
        ? await foldAddedPapers(research, papers)
        : fieldDecision !== undefined
          ? await foldSettled(research, fieldDecision, options)
          : beside["report"] === true
            ? await renderDocuments(research, options)
            : undefined;
  await removeMessage(research.folder, id);
  if (notice !== undefined) await tell({ type: "notice", level: "info", message: notice });
}

/** Maximum number of papers that a notice names. */
const maxNames = 3;

/** Adds papers that the user named to the pool. Returns a notice. */
async function foldAddedPapers(
  research: Pick<Research, "load" | "edit">,
  papers: readonly NamedPaper[],
): Promise<string> {
  const withAddedPapers = (rrd: Rrd): Rrd => withAdded(rrd, papers).rrd;
  const { rrd } = await research.load();
  const { results } = withAdded(rrd, papers);
  const after = await research.edit((now) => resetStagnation(withAddedPapers(now)), true);
  const newPapers = results.filter(({ result }) => result === "added");
  if (newPapers.length === 0) return "The papers that a person added are in the project already.";
  const names = namesIn(withKeys(after));
  const firstNames = newPapers.slice(0, maxNames).map(({ id, title }) => `${names.get(id) ?? id} (${title})`);
  const moreText = newPapers.length > maxNames ? [`${newPapers.length - maxNames} more`] : [];
  return `Added, to be read next: ${[...firstNames, ...moreText].join(", ")}.`;
}

/** Stores the user's decision on a field on which two agents differ. Returns a notice. */
async function foldSettled(
  research: Pick<Research, "folder" | "load" | "edit" | "rewrite">,
  fieldDecision: FieldDecision,
  options: FoldOptions,
): Promise<string> {
  // Loaded only if needed: the module compares values.
  const { isInConflict, applyDecision: withDecision } = await import("../../units/form/agreement.js");
  const { rrd } = await research.load();
  const fieldText = `${fieldDecision.settled.field} of ${namesIn(rrd).get(fieldDecision.paper) ?? fieldDecision.paper}`;
  if (!isInConflict(rrd, fieldDecision))
    return `No two agents differ on ${fieldText} any more, so what a person decided was dropped.`;
  await research.edit((now) => resetStagnation(withDecision(now, fieldDecision)), true);
  if ((await readNarrative(research.folder)) !== undefined) await renderDocuments(research, options);
  return `Decided: on ${fieldText} the value of ${fieldDecision.settled.take === "own" ? "the person" : `the ${fieldDecision.settled.take} agent`} counts.`;
}

/** Writes the documents from the current state. Returns a notice. */
async function renderDocuments(
  research: Pick<Research, "folder" | "load" | "rewrite">,
  { now, render }: FoldOptions,
): Promise<string> {
  if (render === undefined) return "A report was asked for; in classic mode the agent writes it.";
  const [{ rrd, ledger }, time] = [await research.load(), now()];
  const files = await render({ folder: research.folder, rrd, ledger, at: new Date(time) });
  await research.rewrite(files, time, "report: rendered again");
  return `Written as a person asked: ${files.map(({ name }) => name).join(", ")}.`;
}
