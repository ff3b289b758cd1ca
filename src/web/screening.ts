import { updateReport } from "../research/report/documents/show-in-report.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { endOfList, exclusionFrom, openScreening, type Screening } from "../research/overview/screen/session.js";
import type { WhichRecords } from "../research/overview/screen/to-screen.js";
import type { Page } from "./live-page.js";
import { lists, screenAddress, screenPage } from "./page/screen.js";
import type { ShownWork } from "./followed-project.js";

/** Screening of records by people on the pages of projects. */
export interface WebScreening {
  /** The page for a list (`which`) and the record with the id `at`; by default, the record where the user stopped. */
  page(work: ShownWork, which: string | undefined, at: string | undefined): Promise<Page>;
  /** Runs the action of a button. Returns the next address. */
  act(work: ShownWork, form: Readonly<Record<string, unknown>>): Promise<string>;
  /** Shows all decisions in the reports and commits them. */
  close(): Promise<void>;
}

interface ScreeningOptions {
  readonly stateDir: string;
  readonly git: boolean;
  now(): number;
  warn(message: string): void;
}

/** Delay in milliseconds between the last decision and the commit, after which the report shows all decisions. */
const commitMs = 10_000;

export function createWebScreening({ stateDir, git, now, warn }: ScreeningOptions): WebScreening {
  const sessions = new Map<string, { readonly screening: Promise<Screening>; says: string; queue: Promise<unknown> }>();
  const timers = new Map<string, NodeJS.Timeout>();

  const sessionOf = ({ folder, steered }: ShownWork) => {
    const show = () => updateReport(folder, { stateDir, git: false, now, notify: warn });
    const sessionOptions = { folder, where: steered.typedFolder, stateDir, git, now, notify: warn, show };
    const session = sessions.get(folder) ?? {
      screening: openScreening(sessionOptions),
      says: "",
      queue: Promise.resolve(),
    };
    sessions.set(folder, session);
    return session;
  };
  const commitDecisions = async (folder: string): Promise<void> => {
    clearTimeout(timers.get(folder));
    timers.delete(folder);
    await (await sessions.get(folder)?.screening)?.commit();
  };
  const commitSoon = (folder: string): void => {
    clearTimeout(timers.get(folder));
    const warnAbout = (error: unknown) => warn(String(error));
    timers.set(
      folder,
      setTimeout(() => void commitDecisions(folder).catch(warnAbout), commitMs),
    );
  };

  return {
    async page(work, requestedList, at) {
      const session = sessionOf(work);
      const which = whichOf(requestedList);
      const view = await (await session.screening).look(which, at);
      const { says } = session;
      session.says = "";
      return screenPage({ name: work.name, which, view, says });
    },
    act(work, form) {
      const session = sessionOf(work);
      // Two quick key presses must not be applied to the same state.
      const result = session.queue.then(async () => {
        const { says, to } = await runButton(await session.screening, form);
        session.says = says;
        commitSoon(work.folder);
        return screenAddress(work.name, whichOf(form["which"]), to);
      });
      session.queue = result.catch(() => undefined);
      return result;
    },
    async close() {
      await Promise.all([...sessions.keys()].map(commitDecisions));
    },
  };
}

const whichOf = (requestedList: unknown): WhichRecords =>
  (Object.keys(lists) as WhichRecords[]).find((list) => list === requestedList) ?? "waiting";

/** Runs the action of a button. Returns a message and the next record. */
async function runButton(
  screening: Screening,
  form: Readonly<Record<string, unknown>>,
): Promise<{ readonly says: string; readonly to: string }> {
  const fieldText = (name: string): string => (typeof form[name] === "string" ? form[name].trim() : "");
  const [id, act, criterion] = [fieldText("id"), fieldText("act"), fieldText("by")];
  const view = await screening.look(whichOf(form["which"]), id);
  const nextTo = (steps: number): string => view.records[Math.max(0, view.index + steps)]?.id ?? endOfList;
  if (act === "undo") {
    const { says, id: undone } = await screening.undo();
    return { says, to: undone ?? id };
  }
  if (act === "back") return { says: "", to: nextTo(-1) };
  // Another run or another page may have removed the record from the list.
  if (id === endOfList || view.record?.id !== id)
    return { says: "The record is not in this list any more.", to: nextTo(0) };
  try {
    if (criterion !== "")
      return { says: await screening.decide({ id, decision: "exclude", criterion }), to: nextTo(1) };
    switch (act) {
      case "include":
        return { says: await screening.decide({ id, decision: "include" }), to: nextTo(1) };
      case "exclude": {
        const exclusion = exclusionFrom(fieldText("why"), view.criteria);
        if (typeof exclusion === "string") return { says: exclusion, to: id };
        return { says: await screening.decide({ id, decision: "exclude", ...exclusion }), to: nextTo(1) };
      }
      case "maybe":
        return { says: await screening.postpone(id), to: nextTo(1) };
      case "note":
        await screening.note(id, fieldText("note"));
        return { says: "The note is kept.", to: id };
      default:
        return { says: "", to: nextTo(1) };
    }
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return { says: error.message, to: id };
  }
}
