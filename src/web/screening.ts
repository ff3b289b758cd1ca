import { ExpectedError } from "../engine/lib/errors.js";
import { endOfList, openScreening, type Screening } from "../research/overview/screen/session.js";
import type { WhichRecords } from "../research/overview/screen/to-screen.js";
import type { Page } from "./live-page.js";
import { lists, screenAt, screenPage } from "./page/screen.js";
import type { ShownWork } from "./followed-project.js";

/** The records of projects as people go through them on their pages. */
export interface WebScreening {
  /** The page of a list, with the record of this id or the one where the person left off. */
  page(work: ShownWork, which: string | undefined, at: string | undefined): Promise<Page>;
  /** Does what a button says; the address to go to then. */
  act(work: ShownWork, form: Readonly<Record<string, unknown>>): Promise<string>;
  /** Commits what was decided. */
  close(): Promise<void>;
}

interface Means {
  readonly stateDir: string;
  readonly git: boolean;
  now(): number;
  warn(message: string): void;
}

/** So long after the last decision, all of them are committed at once. */
const commitMs = 30_000;

export function webScreening({ stateDir, git, now, warn }: Means): WebScreening {
  const sessions = new Map<string, { readonly screening: Promise<Screening>; says: string; queue: Promise<unknown> }>();
  const timers = new Map<string, NodeJS.Timeout>();

  const sessionOf = ({ folder, steered }: ShownWork) => {
    const how = { folder, where: steered.where, stateDir, git, now, notify: warn };
    const known = sessions.get(folder) ?? { screening: openScreening(how), says: "", queue: Promise.resolve() };
    sessions.set(folder, known);
    return known;
  };
  const commitOf = async (folder: string): Promise<void> => {
    clearTimeout(timers.get(folder));
    timers.delete(folder);
    await (await sessions.get(folder)?.screening)?.commit();
  };
  const commitSoon = (folder: string): void => {
    clearTimeout(timers.get(folder));
    const fail = (error: unknown) => warn(String(error));
    timers.set(
      folder,
      setTimeout(() => void commitOf(folder).catch(fail), commitMs),
    );
  };

  return {
    async page(work, wanted, at) {
      const session = sessionOf(work);
      const which = whichOf(wanted);
      const look = await (await session.screening).look(which, at);
      const { says } = session;
      session.says = "";
      return screenPage({ name: work.name, which, look, says });
    },
    act(work, form) {
      const session = sessionOf(work);
      // Two keys in a row must not both be about the same state.
      const done = session.queue.then(async () => {
        const { says, to } = await take(await session.screening, form);
        session.says = says;
        commitSoon(work.folder);
        return screenAt(work.name, whichOf(form["which"]), to);
      });
      session.queue = done.catch(() => undefined);
      return done;
    },
    async close() {
      await Promise.all([...sessions.keys()].map(commitOf));
    },
  };
}

const whichOf = (wanted: unknown): WhichRecords =>
  (Object.keys(lists) as WhichRecords[]).find((each) => each === wanted) ?? "waiting";

/** What came of a button, and the record to show then. */
async function take(
  screening: Screening,
  form: Readonly<Record<string, unknown>>,
): Promise<{ readonly says: string; readonly to: string }> {
  const word = (name: string): string => (typeof form[name] === "string" ? form[name].trim() : "");
  const [id, act, criterion] = [word("id"), word("act"), word("by")];
  const look = await screening.look(whichOf(form["which"]), id);
  const nextTo = (steps: number): string => look.records[Math.max(0, look.index + steps)]?.id ?? endOfList;
  if (act === "undo") {
    const { says, id: undone } = await screening.undo();
    return { says, to: undone ?? id };
  }
  if (act === "back") return { says: "", to: nextTo(-1) };
  // Another run, or another page, may have taken the record away.
  if (id === endOfList || look.record?.id !== id)
    return { says: "The record is not in this list any more.", to: nextTo(0) };
  try {
    if (criterion !== "")
      return { says: await screening.decide({ id, decision: "exclude", criterion }), to: nextTo(1) };
    switch (act) {
      case "include":
        return { says: await screening.decide({ id, decision: "include" }), to: nextTo(1) };
      case "exclude":
        return { says: await screening.decide({ id, decision: "exclude", why: word("why") }), to: nextTo(1) };
      case "maybe":
        await screening.putOff(id);
        return { says: "Put off: it comes last next time.", to: nextTo(1) };
      case "note":
        await screening.note(id, word("note"));
        return { says: "The note is kept.", to: id };
      default:
        return { says: "", to: nextTo(1) };
    }
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return { says: error.message, to: id };
  }
}
