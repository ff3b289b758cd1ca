import type { LedgerLine } from "../../../engine/generated/ledger.js";
import type { Tell } from "../../../engine/loop/types.js";
import { type BesideMessage, type Received, removeMessage } from "../../../engine/storage/state/steering-inbox.js";
import { resetStagnation } from "../../derived/observations.js";
import type { Rrd } from "../../generated/rrd.js";
import { namesIn, withKeys } from "../../papers/paper-keys.js";
import { type NamedPaper, namedIn, withPapers } from "../../papers/records/added-papers.js";
import type { Research } from "../../project-files/research.js";
import { readNarrative } from "../../units/narrative/kept-narrative.js";
import { type FieldDecision, decisionIn } from "../../units/form/settled.js";
import { askedIn, foldAsked } from "./fold-answer.js";

export interface FoldOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Makes the documents of the project. Absent where the agent writes them. */
  readonly render?: (shown: {
    readonly folder: string;
    readonly rrd: Rrd;
    readonly ledger: readonly LedgerLine[];
    readonly at: Date;
  }) => Promise<readonly { readonly name: string; readonly text: string }[]>;
}

/**
 * Folds in what was done outside the run, or is asked of it, and says so. The message is taken away once it is folded,
 * and folding it again changes nothing.
 */
export async function foldBeside(
  research: Pick<Research, "folder" | "load" | "edit" | "fold" | "nextIteration" | "rewrite">,
  message: BesideMessage & Pick<Received, "id">,
  options: FoldOptions,
  tell: Tell,
): Promise<void> {
  const { beside, id } = message;
  const [asked, named, settled] = [askedIn(beside), namedIn(message), decisionIn(message)];
  const says =
    asked !== undefined
      ? await foldAsked(research, { ...asked, message: id })
      : named !== undefined
        ? await foldAdded(research, named)
        : settled !== undefined
          ? await foldSettled(research, settled, options)
          : beside["report"] === true
            ? await renderNow(research, options)
            : undefined;
  await removeMessage(research.folder, id);
  if (says !== undefined) await tell({ type: "notice", level: "info", message: says });
}

/** Names of so many papers are told. */
const maxNamed = 3;

/** Puts papers into the pool that a person named; what came of it. */
async function foldAdded(research: Pick<Research, "load" | "edit">, named: readonly NamedPaper[]): Promise<string> {
  const added = (rrd: Rrd): Rrd => ({ ...rrd, papers_pool: withPapers(rrd.papers_pool, named).pool });
  const { rrd } = await research.load();
  const { results } = withPapers(rrd.papers_pool, named);
  const after = await research.edit((now) => resetStagnation(added(now)), true);
  const fresh = results.filter(({ result }) => result === "added");
  if (fresh.length === 0) return "The papers that a person added are in the project already.";
  const names = namesIn(withKeys(after));
  const first = fresh.slice(0, maxNamed).map(({ id, title }) => `${names.get(id) ?? id} (${title})`);
  const others = fresh.length > maxNamed ? [`${fresh.length - maxNamed} more`] : [];
  return `Added, to be read next: ${[...first, ...others].join(", ")}.`;
}

/** Puts in what a person decided where two agents differ on a field; what came of it. */
async function foldSettled(
  research: Pick<Research, "folder" | "load" | "edit" | "rewrite">,
  one: FieldDecision,
  options: FoldOptions,
): Promise<string> {
  // What compares values is loaded where a person settles one.
  const { isInConflict: isSettleable, withDecision: withSettled } = await import("../../units/form/agreement.js");
  const { rrd } = await research.load();
  const what = `${one.settled.field} of ${namesIn(rrd).get(one.paper) ?? one.paper}`;
  if (!isSettleable(rrd, one)) return `No two agents differ on ${what} any more, so what a person decided was dropped.`;
  await research.edit((now) => resetStagnation(withSettled(now, one)), true);
  if ((await readNarrative(research.folder)) !== undefined) await renderNow(research, options);
  return `Decided: on ${what} the value of ${one.settled.take === "own" ? "the person" : `the ${one.settled.take} agent`} counts.`;
}

/** Writes the documents as the state stands; what came of it. */
async function renderNow(
  research: Pick<Research, "folder" | "load" | "rewrite">,
  { now, render }: FoldOptions,
): Promise<string> {
  if (render === undefined) return "A report was asked for; in classic mode the agent writes it.";
  const [{ rrd, ledger }, at] = [await research.load(), now()];
  const files = await render({ folder: research.folder, rrd, ledger, at: new Date(at) });
  await research.rewrite(files, at, "report: rendered again");
  return `Written as a person asked: ${files.map(({ name }) => name).join(", ")}.`;
}
