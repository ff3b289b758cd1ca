import { existsSync } from "node:fs";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { hiddenFolder } from "../../../engine/lib/layout.js";
import { oneLine } from "../../../engine/lib/sanitise.js";
import { many } from "../../../engine/lib/words.js";
import { writeFileAtomic } from "../../../engine/storage/atomic-file.js";
import { openCheckpoints } from "../../../engine/storage/checkpoints.js";
import { makeFolder, readRegularText } from "../../../engine/storage/regular-file.js";
import type { Criterion, Rrd } from "../../generated/rrd.js";
import { criteriaOf } from "../../project-files/eligibility-criteria.js";
import { committedFiles, screeningFile } from "../../project-files/layout.js";
import { readResearch } from "../../project-files/research.js";
import { recordDecisions, takeBack } from "../record-decisions.js";
import { recordsToScreen, type ToScreen, type WhichRecords } from "./to-screen.js";

/** Where a person has got to: kept beside the project, for nobody else. */
interface Place {
  /** Records that were put off. */
  maybe: string[];
  notes: Record<string, string>;
  /** The record that was shown last. */
  at?: string;
}

/** The list as it stands now, and where the person is in it. */
export interface Look {
  readonly rrd: Rrd;
  readonly criteria: readonly Criterion[];
  readonly records: readonly ToScreen[];
  /** The place of the record to show; behind the last one where all were gone through. */
  readonly index: number;
  /** The record to show; absent behind the last one. */
  readonly record?: ToScreen;
  /** What the person decided in this session, by the record's id: "exclude: mice". */
  readonly said: ReadonlyMap<string, string>;
  /** The person's note on the record; may be empty. */
  readonly note: string;
}

/** What a person says of a record. */
export interface Says {
  readonly id: string;
  readonly decision: "include" | "exclude";
  /** By default the person's note on the record, else words of the criterion. */
  readonly why?: string;
  readonly criterion?: string;
}

/**
 * Records that a person goes through one by one, on a terminal or the local page. Every decision is on the disk before
 * the next is heard; git gets one commit for all since the last `commit`.
 */
export interface Screening {
  /** A list now, with the record of this id, or where the person left off. */
  look(which: WhichRecords, at?: string): Promise<Look>;
  /** What the record is now, one sentence. @throws ExpectedError as `recordDecisions`. */
  decide(says: Says): Promise<string>;
  /** Takes the last decision of this session back: what became of it, and the record it was about. */
  undo(): Promise<{ readonly says: string; readonly id?: string }>;
  /** Puts a record behind all others, next time. */
  putOff(id: string): Promise<void>;
  note(id: string, text: string): Promise<void>;
  /** Shows the decisions since the last call in the report, where one is written, and commits them. */
  commit(): Promise<void>;
  /** How the report gets to know of the last decision, where one is written. */
  next(): string | undefined;
}

interface ScreeningOptions {
  readonly folder: string;
  /** The project as the person knows it. */
  readonly where: string;
  readonly stateDir: string;
  readonly git: boolean;
  readonly now: () => number;
  readonly notify: (message: string) => void;
  /** Shows the decisions in the report, where one is written. */
  show(): Promise<unknown>;
}

/** Opens a session. What the person put off before stands behind the rest. */
export async function openScreening(options: ScreeningOptions): Promise<Screening> {
  const { folder, where, now } = options;
  const writing = { stateDir: options.stateDir, git: false, notify: (_: string, says: string) => options.notify(says) };
  const place = await readPlace(folder);
  const said = new Map<string, string>();
  const done: { readonly id: string; readonly before: Rrd }[] = [];
  const orders = new Map<WhichRecords, string[]>();
  let uncommitted = 0;
  let next: string | undefined;

  const keep = async (): Promise<void> => {
    makeFolder(hiddenFolder(folder));
    await writeFileAtomic(screeningFile(folder), `${JSON.stringify(place)}\n`, { durable: false });
  };
  /** The list of before, and what has come to it since. */
  const listOf = (rrd: Rrd, which: WhichRecords): ToScreen[] => {
    const order = orders.get(which) ?? [];
    orders.set(which, order);
    const all = new Map(recordsToScreen(rrd, "all").map((record) => [record.id, record]));
    const wanted = recordsToScreen(rrd, which).map(({ id }) => id);
    const fresh = wanted.filter((id) => !order.includes(id));
    order.push(...fresh.toSorted((a, b) => Number(place.maybe.includes(a)) - Number(place.maybe.includes(b))));
    return order.flatMap((id) => all.get(id) ?? []);
  };

  return {
    async look(which, at) {
      const { rrd } = await readResearch(folder);
      const records = listOf(rrd, which);
      const found = records.findIndex(({ id }) => id === (at ?? place.at));
      const index = at === endOfList ? records.length : Math.max(0, found);
      const record = records[index];
      if (place.at !== record?.id) {
        if (record === undefined) delete place.at;
        else place.at = record.id;
        await keep();
      }
      const note = place.notes[record?.id ?? ""] ?? "";
      return { rrd, criteria: criteriaOf(rrd), records, index, said, note, ...withoutUndefined({ record }) };
    },
    async decide({ id, decision, why, criterion }) {
      const before = (await readResearch(folder)).rrd;
      const reason = why ?? place.notes[id] ?? (decision === "include" ? "Included on the screen." : undefined);
      const one = { paper: id, decision, ...withoutUndefined({ why: reason, criterion }) };
      const [made] = await recordDecisions(folder, [one], { ...writing, where, now: now() });
      done.push({ id, before });
      said.set(id, `${decision}: ${made?.why ?? ""}`);
      place.maybe = place.maybe.filter((each) => each !== id);
      uncommitted += 1;
      next = made?.next;
      await keep();
      return made?.says ?? "";
    },
    async undo() {
      const last = done.pop();
      if (last === undefined) return { says: "Nothing to take back." };
      const { id, before } = last;
      const isBack = await takeBack(folder, id, before, writing);
      if (isBack) said.delete(id);
      uncommitted += 1;
      return {
        id,
        says: isBack ? `Taken back: ${oneLine(id)}.` : `A run has taken the decision on ${oneLine(id)}; decide again.`,
      };
    },
    async putOff(id) {
      if (!place.maybe.includes(id)) place.maybe.push(id);
      await keep();
    },
    async note(id, text) {
      if (text === "") delete place.notes[id];
      else place.notes[id] = text;
      await keep();
    },
    async commit() {
      if (uncommitted === 0) return;
      const message = `screen: ${many(said.size, "decision")}`;
      uncommitted = 0;
      await options.show();
      if (!options.git) return;
      const warn = (says: string) => options.notify(`warning: ${says}`);
      await (await openCheckpoints(folder, committedFiles, warn))?.commit(message);
    },
    next: () => next,
  };
}

/** Stands for the place behind the last record: the id of none. */
export const endOfList = "";

async function readPlace(folder: string): Promise<Place> {
  const path = screeningFile(folder);
  try {
    const text = existsSync(path) ? await readRegularText(path) : "{}";
    const { maybe = [], notes = {}, at } = JSON.parse(text) as Partial<Place>;
    return { maybe, notes, ...withoutUndefined({ at }) };
  } catch {
    // Nobody loses a decision with it.
    return { maybe: [], notes: {} };
  }
}
