import { existsSync } from "node:fs";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { hiddenFolder } from "../../../engine/lib/layout.js";
import { oneLine } from "../../../engine/lib/sanitise.js";
import { quantity } from "../../../engine/lib/words.js";
import { writeFileAtomic } from "../../../engine/storage/atomic-file.js";
import { openCheckpoints } from "../../../engine/storage/checkpoints.js";
import { makeFolder, readRegularText } from "../../../engine/storage/regular-file.js";
import type { Criterion, Rrd } from "../../generated/rrd.js";
import { criteriaOf } from "../../project-files/eligibility-criteria.js";
import { committedFiles, screeningFile } from "../../project-files/layout.js";
import { readResearch } from "../../project-files/research.js";
import { namesIn } from "../../papers/paper-keys.js";
import { recordDecisions, recordIn, undoDecision } from "../record-decisions.js";
import { recordsToScreen, type ToScreen, type WhichRecords } from "./to-screen.js";

/** The user's progress, stored in the project's folder only for this user. */
interface SavedProgress {
  /** Ids of postponed records. */
  maybe: string[];
  notes: Record<string, string>;
  /** The id of the record that was shown last. */
  at?: string;
}

/** The present list, and the user's position in it. */
export interface ScreeningView {
  readonly rrd: Rrd;
  readonly criteria: readonly Criterion[];
  readonly records: readonly ToScreen[];
  /** The index of the record to show; the length of the list if all were handled. */
  readonly index: number;
  /** The record to show; absent at the end of the list. */
  readonly record?: ToScreen;
  /** The user's decisions in this session, by the record's id: "exclude: mice". */
  readonly decisionTexts: ReadonlyMap<string, string>;
  /** The ids of the postponed records of the list. */
  readonly maybe: readonly string[];
  /** The user's note on the record; may be empty. */
  readonly note: string;
}

/** The user's decision on a record. */
export interface ScreenDecision {
  readonly id: string;
  readonly decision: "include" | "exclude";
  /** By default the user's note on the record, otherwise the text of the criterion. */
  readonly why?: string;
  readonly criterion?: string;
}

/**
 * A session in which the user decides on records one by one, on a terminal or the local page. Every decision is stored
 * at once; `commit` makes one git commit of all decisions since the last one.
 */
export interface Screening {
  /** The present list, at the record with the id `at`, or else at the record where the user stopped. */
  look(which: WhichRecords, at?: string): Promise<ScreeningView>;
  /**
   * Stores a decision. Returns what happened to the record, one sentence.
   * @throws ExpectedError as `recordDecisions`.
   */
  decide(decision: ScreenDecision): Promise<string>;
  /** Undoes the last decision or postponement of this session. Returns a sentence and the record's id. */
  undo(): Promise<{ readonly says: string; readonly id?: string }>;
  /** Moves a record to the end of the list, in this session and the next. Returns a sentence. */
  postpone(id: string): Promise<string>;
  note(id: string, text: string): Promise<void>;
  /** Updates the report with the decisions since the last call, if there is one, and commits them. */
  commit(): Promise<void>;
  /** How the report is updated after the last decision, if there is one. */
  next(): string | undefined;
}

interface ScreeningOptions {
  readonly folder: string;
  /** The name of the project for the user. */
  readonly where: string;
  readonly stateDir: string;
  readonly git: boolean;
  readonly now: () => number;
  readonly notify: (message: string) => void;
  /** Updates the report, if there is one. */
  show(): Promise<unknown>;
}

/**
 * What a person typed as the reason of an exclusion: the number of a criterion, from 1, or words. A string says why it
 * is neither. A number that names no criterion would otherwise be stored as a reason.
 */
export function exclusionFrom(
  typed: string,
  criteria: readonly Criterion[],
): { readonly criterion: string } | { readonly why: string } | string {
  const criterion = /^\d+$/.test(typed) ? criteria[Number(typed) - 1]?.id : undefined;
  if (criterion !== undefined) return { criterion };
  if (/\p{L}/u.test(typed) || !/\p{N}/u.test(typed)) return { why: typed };
  return criteria.length === 0
    ? `${oneLine(typed)} gives no reason; type one in words.`
    : `${oneLine(typed)} names no criterion; type ${numbersOf(criteria)}, or a reason in words.`;
}

/** The numbers by which a person names criteria: "1", "1 or 2", "a number from 1 to 5". */
export const numbersOf = ({ length }: readonly Criterion[]): string =>
  length === 1 ? "1" : length === 2 ? "1 or 2" : `a number from 1 to ${length}`;

/** Opens a session. Records that were postponed earlier are at the end. */
export async function openScreening(options: ScreeningOptions): Promise<Screening> {
  const { folder, where, now } = options;
  const writeOptions = {
    stateDir: options.stateDir,
    git: false,
    notify: (_: string, says: string) => options.notify(says),
  };
  const progress = await readProgress(folder);
  const decisionTexts = new Map<string, string>();
  const undoSteps: { readonly id: string; readonly name: string; readonly undo: () => Promise<boolean> }[] = [];
  const orders = new Map<WhichRecords, string[]>();
  let uncommittedCount = 0;
  let next: string | undefined;

  const saveProgress = async (): Promise<void> => {
    makeFolder(hiddenFolder(folder));
    await writeFileAtomic(screeningFile(folder), `${JSON.stringify(progress)}\n`, { isDurable: false });
  };
  /** The order of the session, with new records at the end. */
  const recordsInOrder = (rrd: Rrd, which: WhichRecords): ToScreen[] => {
    const order = orders.get(which) ?? [];
    const all = new Map(recordsToScreen(rrd, "all").map((record) => [record.id, record]));
    const wantedIds = recordsToScreen(rrd, which).map(({ id }) => id);
    const newIds = wantedIds.filter((id) => !order.includes(id));
    const isMaybe = (id: string) => Number(progress.maybe.includes(id));
    const newOrder = [...order, ...newIds.toSorted((a, b) => isMaybe(a) - isMaybe(b))];
    orders.set(which, newOrder);
    return newOrder.flatMap((id) => all.get(id) ?? []);
  };

  return {
    async look(which, at) {
      const { rrd } = await readResearch(folder);
      const records = recordsInOrder(rrd, which);
      const foundIndex = records.findIndex(({ id }) => id === (at ?? progress.at));
      const index = at === endOfList ? records.length : Math.max(0, foundIndex);
      const record = records[index];
      if (progress.at !== record?.id) {
        if (record === undefined) delete progress.at;
        else progress.at = record.id;
        await saveProgress();
      }
      const note = progress.notes[record?.id ?? ""] ?? "";
      const maybe = progress.maybe.filter((maybeId) => records.some(({ id }) => id === maybeId));
      const view = { rrd, criteria: criteriaOf(rrd), records, index, decisionTexts, maybe, note };
      return { ...view, ...withoutUndefined({ record }) };
    },
    async decide({ id, decision, why, criterion }) {
      const before = recordIn((await readResearch(folder)).rrd, id);
      const reason = why ?? progress.notes[id] ?? (decision === "include" ? "Included on the screen." : undefined);
      const decisionToStore = { paper: id, decision, ...withoutUndefined({ why: reason, criterion }) };
      const [result] = await recordDecisions(folder, [decisionToStore], { ...writeOptions, where, now: now() });
      const [textBefore, maybeBefore] = [decisionTexts.get(id), progress.maybe];
      const undo = async (): Promise<boolean> => {
        uncommittedCount += 1;
        if (!(await undoDecision(folder, id, before, writeOptions))) return false;
        if (textBefore === undefined) decisionTexts.delete(id);
        else decisionTexts.set(id, textBefore);
        progress.maybe = maybeBefore;
        return true;
      };
      undoSteps.push({ id, name: result?.key ?? id, undo });
      decisionTexts.set(id, `${decision}: ${result?.why ?? ""}`);
      progress.maybe = progress.maybe.filter((otherId) => otherId !== id);
      uncommittedCount += 1;
      next = result?.next;
      await saveProgress();
      return result?.says ?? "";
    },
    async undo() {
      const last = undoSteps.pop();
      if (last === undefined)
        return {
          says: "Nothing was decided in this session; 'research-ralph decide <paper> undo' takes an earlier decision back.",
        };
      const [id, name] = [last.id, oneLine(last.name)];
      const isBack = await last.undo();
      await saveProgress();
      return { id, says: isBack ? `Taken back: ${name}.` : `A run has taken the decision on ${name}; decide again.` };
    },
    async postpone(id) {
      const name = namesIn((await readResearch(folder)).rrd).get(id) ?? id;
      const [maybeBefore, ordersBefore] = [progress.maybe, new Map(orders)];
      const undo = (): Promise<boolean> => {
        progress.maybe = maybeBefore;
        for (const [which, order] of ordersBefore) orders.set(which, order);
        return Promise.resolve(true);
      };
      undoSteps.push({ id, name, undo });
      const isFirstTime = !progress.maybe.includes(id);
      if (isFirstTime) {
        progress.maybe = [...progress.maybe, id];
        for (const [which, order] of orders)
          if (order.includes(id)) orders.set(which, [...order.filter((otherId) => otherId !== id), id]);
        await saveProgress();
      }
      return `Maybe: ${oneLine(name)} ${isFirstTime ? "comes" : "stays"} at the end of the list.`;
    },
    async note(id, text) {
      if (text === "") delete progress.notes[id];
      else progress.notes[id] = text;
      await saveProgress();
    },
    async commit() {
      if (uncommittedCount === 0) return;
      const message = `screen: ${quantity(decisionTexts.size, "decision")}`;
      uncommittedCount = 0;
      await options.show();
      if (!options.git) return;
      const warn = (says: string) => options.notify(`warning: ${says}`);
      await (await openCheckpoints(folder, committedFiles, warn))?.commit(message);
    },
    next: () => next,
  };
}

/** How many records are decided, and how many are postponed, such as "2 decided, 1 maybe". */
export const decidedText = ({ decisionTexts, maybe }: ScreeningView): string =>
  `${decisionTexts.size} decided${maybe.length === 0 ? "" : `, ${maybe.length} maybe`}`;

/** The standing of a record: the user's decision of this session, or else its status. */
export function standingText({ id, statusText }: ToScreen, { decisionTexts, maybe }: ScreeningView): string {
  const sessionText = decisionTexts.get(id) ?? (maybe.includes(id) ? "maybe" : undefined);
  return sessionText === undefined ? statusText : `you said ${sessionText}`;
}

/** The id that means the end of the list. */
export const endOfList = "";

async function readProgress(folder: string): Promise<SavedProgress> {
  const path = screeningFile(folder);
  try {
    const text = existsSync(path) ? await readRegularText(path) : "{}";
    const { maybe = [], notes = {}, at } = JSON.parse(text) as Partial<SavedProgress>;
    return { maybe, notes, ...withoutUndefined({ at }) };
  } catch {
    // No decision is lost with it.
    return { maybe: [], notes: {} };
  }
}
