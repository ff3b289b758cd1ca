import { existsSync } from "node:fs";
import pc from "picocolors";
import { type ConfigFlags, configToRead } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { hiddenFolder } from "../../engine/lib/layout.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { many } from "../../engine/lib/words.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { openCheckpoints } from "../../engine/storage/checkpoints.js";
import { makeFolder, readRegularText } from "../../engine/storage/regular-file.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { recordDecisions, takeBack } from "../../research/overview/decide.js";
import { findResearch, nameFor } from "../../research/overview/find-research.js";
import { recordsToScreen, type ToScreen, type WhichRecords } from "../../research/overview/to-screen.js";
import type { Rrd } from "../../research/generated/rrd.js";
import { criteriaOf } from "../../research/project-files/eligibility-criteria.js";
import { committedFiles, screeningFile } from "../../research/project-files/layout.js";
import { readResearch } from "../../research/project-files/research.js";
import { requirePerson } from "./require-person.js";
import { endLine, keyLines, recordLines } from "./screen-lines.js";
import { openKeys } from "./typed-keys.js";

interface ScreenArguments {
  readonly folder: string | undefined;
  readonly which: WhichRecords;
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

/** Where a person has got to: kept beside the project, for nobody else. */
interface Place {
  /** Records that were put off. */
  maybe: string[];
  notes: Record<string, string>;
  /** The record that was shown last. */
  at?: string;
}

/** A decision that can be taken back. */
interface Done {
  readonly index: number;
  /** The state before it. */
  readonly before: Rrd;
}

/**
 * Shows records one by one, and takes a person's decision on each with a key. Every decision is on the disk before the
 * next key is heard; git gets one commit at the end.
 */
export async function screenCommand(
  { folder: argument, which, flags, json }: ScreenArguments,
  io: Io,
): Promise<number> {
  const folder = await findResearch(io.cwd, argument);
  const where = nameFor(io.cwd, folder);
  const { rrd } = await readResearch(folder);
  const records = recordsToScreen(rrd, which);
  if (json) {
    io.stdout(`${JSON.stringify({ folder, which, records }, null, 2)}\n`);
    return 0;
  }
  requirePerson(io.env);
  if (records.length === 0) {
    const all = which === "all" ? "" : ` 'research-ralph screen ${where} --all' shows every record.`;
    say(io, `${nothingWords[which]}${all}`);
    return 0;
  }
  const keys = openKeys(io);
  if (keys === undefined)
    throw new ExpectedError(
      "screen needs a terminal; 'research-ralph screen --json' lists the records, and decide takes a CSV file of decisions.",
      2,
    );
  const { git, stateDir } = await configToRead(io, flags, ["state_dir"]);
  const notify = (_: string, message: string) => say(io, message);
  const place = await readPlace(folder);
  const session = { folder, where, rrd, records, place, io, keys, options: { stateDir, git: false, notify } };
  let decided = 0;
  let next: string | undefined;
  try {
    ({ decided, next } = await goThrough(session));
  } finally {
    keys.close();
    makeFolder(hiddenFolder(folder));
    await writeFileAtomic(screeningFile(folder), `${JSON.stringify(place)}\n`);
  }
  if (decided > 0 && git) {
    const checkpoints = await openCheckpoints(folder, committedFiles, (message) => say(io, `warning: ${message}`));
    await checkpoints?.commit(`screen: ${many(decided, "decision")}`);
  }
  const left = recordsToScreen((await readResearch(folder)).rrd, which === "all" ? "waiting" : which).length;
  say(io, `${many(decided, "decision")}; ${left === 0 ? "nothing waits for you" : `${many(left, "record")} left`}.`);
  if (left > 0) say(io, `'research-ralph screen ${where}' goes on from here.`);
  else if (next !== undefined) say(io, next);
  return 0;
}

const nothingWords: Readonly<Record<WhichRecords, string>> = {
  waiting: "No record waits for your decision.",
  conflicts: "There is no conflict of two readers to decide.",
  unclear: "No record waits because a criterion is unclear.",
  all: "The project has no records yet.",
};

interface Session {
  readonly folder: string;
  readonly where: string;
  readonly rrd: Rrd;
  readonly records: readonly ToScreen[];
  readonly place: Place;
  readonly io: Io;
  readonly keys: NonNullable<ReturnType<typeof openKeys>>;
  readonly options: Omit<Parameters<typeof takeBack>[3], never>;
}

/** How many decisions stand, and how the report gets to know of them, where one is written. */
interface Went {
  readonly decided: number;
  readonly next?: string | undefined;
}

/** Shows record after record until all are decided or the person quits. */
async function goThrough(session: Session): Promise<Went> {
  const { folder, rrd, place, io, keys } = session;
  const criteria = criteriaOf(rrd);
  // What was put off comes last.
  const order = session.records.toSorted((a, b) => Number(isPutOff(place, a)) - Number(isPutOff(place, b)));
  const said = new Map<string, string>();
  const done: Done[] = [];
  let index = Math.max(0, which(order, place));
  let message = "";
  let next: string | undefined;
  const undo = async () => {
    const last = done.pop();
    if (last === undefined) {
      message = "Nothing to take back.";
      return;
    }
    const { id } = order[last.index] as ToScreen;
    const isBack = await takeBack(folder, id, last.before, session.options);
    message = isBack ? `Taken back: ${oneLine(id)}.` : `A run has taken the decision on ${oneLine(id)}; decide again.`;
    if (isBack) said.delete(id);
    index = last.index;
  };
  for (;;) {
    const record = order[index];
    if (record === undefined) {
      delete place.at;
      io.stdout(`${clear}${message === "" ? "" : `· ${message}\n\n`}That was the last record.\n\n${endLine(io)}\n`);
      const key = await keys.next();
      message = "";
      if (key === "b") index -= 1;
      else if (key === "u") await undo();
      else return { decided: said.size, next };
      continue;
    }
    place.at = record.id;
    const head = { number: index + 1, of: order.length, decided: said.size };
    const shown = { note: place.notes[record.id] ?? "", said: said.get(record.id) ?? "", message };
    io.stdout(`${clear}${recordLines(record, rrd, head, shown, io).join("\n")}\n\n${keyLines(io).join("\n")}\n`);
    message = "";
    const key = await keys.next();
    const decide = async (decision: "include" | "exclude", why: string, criterion?: string) => {
      const before = (await readResearch(folder)).rrd;
      const one = { paper: record.id, decision, why, ...(criterion === undefined ? {} : { criterion }) };
      try {
        const [made] = await recordDecisions(folder, [one], {
          ...session.options,
          where: session.where,
          now: io.clock.now(),
        });
        done.push({ index, before });
        said.set(record.id, `${decision}: ${why}`);
        place.maybe = place.maybe.filter((id) => id !== record.id);
        message = made?.says ?? "";
        next = made?.next;
        index += 1;
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        message = error.message;
      }
    };
    switch (key) {
      case "i":
        await decide("include", place.notes[record.id] ?? "Included on the screen.");
        break;
      case "x": {
        const reason = await reasonFor(criteria, place.notes[record.id], session);
        if (reason !== undefined) await decide("exclude", reason.why, reason.criterion);
        break;
      }
      case "m":
        if (!isPutOff(place, record)) place.maybe.push(record.id);
        index += 1;
        break;
      case "n": {
        const note = await keys.line("Note: ", place.notes[record.id]);
        if (note !== undefined) place.notes[record.id] = note;
        break;
      }
      case "b":
        index = Math.max(0, index - 1);
        break;
      case " ":
      case "s":
        index += 1;
        break;
      case "u":
        await undo();
        break;
      case "q":
      case "\u0003":
      case "\u0004":
        return { decided: said.size, next };
      default:
        message = `'${oneLine(key)}' does nothing here.`;
    }
  }
}

const clear = "\u001b[2J\u001b[3J\u001b[H";
const isPutOff = ({ maybe }: Place, { id }: ToScreen): boolean => maybe.includes(id);

/** Where the person left off. */
const which = (order: readonly ToScreen[], { at }: Place): number => order.findIndex(({ id }) => id === at);

/** By which criterion a record is excluded, or why else; undefined where the person thought better of it. */
async function reasonFor(
  criteria: ReturnType<typeof criteriaOf>,
  note: string | undefined,
  { io, keys }: Session,
): Promise<{ readonly why: string; readonly criterion?: string } | undefined> {
  if (criteria.length > 0) {
    io.stdout("\nExclude by:\n");
    for (const [index, { id, kind, text }] of criteria.slice(0, 9).entries())
      io.stdout(`  ${pc.bold(String(index + 1))}  ${id} (${kind}: ${oneLine(text).slice(0, io.columns - 22)})\n`);
    io.stdout(`  ${pc.bold("0")}  another reason      Esc  back\n`);
    const key = await keys.next();
    const criterion = criteria[Number(key) - 1];
    if (criterion !== undefined)
      return {
        why: note ?? `${criterion.kind === "include" ? "Not" : "It is"}: ${criterion.text}`,
        criterion: criterion.id,
      };
    if (key !== "0") return undefined;
  }
  const why = await keys.line("Why is it excluded? ", note);
  return why === undefined || why.trim() === "" ? undefined : { why: why.trim() };
}

async function readPlace(folder: string): Promise<Place> {
  const path = screeningFile(folder);
  try {
    const {
      maybe = [],
      notes = {},
      at,
    } = existsSync(path) ? (JSON.parse(await readRegularText(path)) as Partial<Place>) : {};
    return { maybe, notes, ...(at === undefined ? {} : { at }) };
  } catch {
    // Nobody loses a decision with it.
    return { maybe: [], notes: {} };
  }
}
