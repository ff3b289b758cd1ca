import pc from "picocolors";
import { type ConfigFlags, configToRead } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import type { Io } from "../../engine/ui/io.js";
import { labelledLines, say, wrap } from "../../engine/ui/terminal/format.js";
import type { Criterion } from "../../research/generated/rrd.js";
import { findResearch, listResearches, nameFor, UnnamedWork } from "../../research/overview/find-research.js";
import {
  decidedText,
  endOfList,
  type ScreeningView,
  openScreening,
  type Screening,
  standingText,
} from "../../research/overview/screen/session.js";
import { emptyListTexts, recordsToScreen, type WhichRecords } from "../../research/overview/screen/to-screen.js";
import { updateReport } from "../../research/report/documents/show-in-report.js";
import { readResearch } from "../../research/project-files/research.js";
import { screenKeys } from "../help-text.js";
import { requirePerson } from "./require-person.js";
import { endLine, keyLines, recordLines } from "./screen-lines.js";
import { type Keys, openKeys } from "./typed-keys.js";

interface ScreenArguments {
  readonly folder: string | undefined;
  readonly which: WhichRecords;
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

/** Shows records one by one on the terminal, and takes a person's decision on each with a key. */
export async function screenCommand(
  { folder: argument, which, flags, json }: ScreenArguments,
  io: Io,
): Promise<number> {
  const folder = await findResearch(io.cwd, argument).catch(async (error: unknown) => {
    const only = error instanceof UnnamedWork ? await onlyWaiting(which, io) : undefined;
    if (only === undefined) throw error;
    return only;
  });
  const where = nameFor(io.cwd, folder);
  const { rrd } = await readResearch(folder);
  const records = recordsToScreen(rrd, which);
  if (json) {
    io.stdout(`${JSON.stringify({ folder, which, records }, null, 2)}\n`);
    return 0;
  }
  requirePerson(io.env);
  if (records.length === 0) {
    const all =
      which === "all" ? "" : ` 'research-ralph screen ${where} --all' shows every record that was screened or read.`;
    say(io, `${emptyListTexts[which]}${all}`);
    return 0;
  }
  const keys = openKeys(io);
  if (keys === undefined)
    throw new ExpectedError(
      "screen needs a terminal; 'research-ralph screen --json' lists the records, and decide takes a CSV file of decisions.",
      2,
    );
  const { git, stateDir } = await configToRead(io, flags, ["state_dir"]);
  const writing = { stateDir, now: io.clock.now, notify: (message: string) => say(io, message) };
  const show = () => updateReport(folder, { ...writing, git: false });
  const screening = await openScreening({ ...writing, folder, where, git, show });
  let last: ScreeningView;
  try {
    last = await goThrough(screening, which, keys, io);
  } finally {
    keys.close();
  }
  await screening.commit();
  const left = recordsToScreen((await readResearch(folder)).rrd, which === "all" ? "waiting" : which).length;
  const next = screening.next();
  const maybe = last.maybe.length === 0 ? "" : `, ${last.maybe.length} maybe`;
  say(
    io,
    `${quantity(last.decisionTexts.size, "decision")}${maybe}; ${left === 0 ? "nothing waits for you" : `${quantity(left, "record")} left`}.`,
  );
  if (left > 0)
    say(
      io,
      `'research-ralph screen ${where}' goes on from here${maybe === "" ? "" : "; what you put off with m comes last"}.`,
    );
  else if (next !== undefined) say(io, next);
  return 0;
}

const clearTerminal = "\u001b[2J\u001b[3J\u001b[H";

/** The only project here with records of this list, which is told; undefined where several have some, or none. */
async function onlyWaiting(which: WhichRecords, io: Io): Promise<string | undefined> {
  const folders: string[] = [];
  for (const folder of await listResearches(io.cwd)) {
    const read = await readResearch(folder).catch(() => undefined);
    if (read !== undefined && recordsToScreen(read.rrd, which).length > 0) folders.push(folder);
  }
  const [only, ...others] = folders;
  if (only === undefined || others.length > 0) return undefined;
  say(io, `Only ${nameFor(io.cwd, only)} has records for this list; it is taken.`);
  return only;
}

/** Shows record after record until all are gone through or the person quits; the last view. */
async function goThrough(screening: Screening, which: WhichRecords, keys: Keys, io: Io): Promise<ScreeningView> {
  const clear = io.isDumb === true ? "\n" : clearTerminal;
  let message = "";
  /** The record whose abstract is shown in full, however long. */
  let wholeId: string | undefined;
  let look = await screening.look(which);
  const to = async (index: number): Promise<void> => {
    look = await screening.look(which, look.records[Math.max(0, index)]?.id ?? endOfList);
  };
  const undo = async (): Promise<void> => {
    const { says, id } = await screening.undo();
    message = says;
    look = await screening.look(which, id ?? look.record?.id ?? endOfList);
  };
  const decide = async (says: Parameters<Screening["decide"]>[0]): Promise<void> => {
    try {
      message = await screening.decide(says);
      await to(look.index + 1);
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      message = error.message;
    }
  };
  for (;;) {
    const { record, records, index, rrd, note } = look;
    const told = message;
    message = "";
    if (record === undefined) {
      io.stdout(
        `${clear}${told === "" ? "" : `· ${told}\n\n`}That was the last record; ${decidedText(look)}.\n\n${endLine(io)}\n`,
      );
      const key = await keys.next();
      if (key === "b") await to(index - 1);
      else if (key === "u") await undo();
      else return look;
      continue;
    }
    const { id } = record;
    const place = `${index + 1} of ${records.length} · ${decidedText(look)} · ${record.name} ${standingText(record, look)}`;
    const keysShown = keyLines(io);
    // An empty line stands before the keys, and the cursor on the line after them.
    const maxLines =
      wholeId === id ? Number.POSITIVE_INFINITY : (io.rows ?? Number.POSITIVE_INFINITY) - keysShown.length - 2;
    const lines = recordLines(record, rrd, { place, note, message: told }, io, maxLines);
    io.stdout(`${clear}${lines.join("\n")}\n\n${keysShown.join("\n")}\n`);
    const key = await keys.next();
    switch (key) {
      case "i":
        await decide({ id, decision: "include" });
        break;
      case "x": {
        const reason = await reasonFor(look, io, keys);
        if (reason !== undefined) await decide({ id, decision: "exclude", ...reason });
        break;
      }
      case "m":
        message = await screening.postpone(id);
        await to(index + 1);
        break;
      case "n": {
        const text = await keys.line("Note: ", note);
        if (text !== undefined) await screening.note(id, text);
        await to(index);
        break;
      }
      case "a":
        wholeId = id;
        break;
      case "b":
        await to(index - 1);
        break;
      case " ":
      case "s":
        await to(index + 1);
        break;
      case "u":
        await undo();
        break;
      case "q":
      case "\u0003":
      case "\u0004":
        return look;
      case "?":
        message = screenKeys;
        break;
      default:
        message = `'${oneLine(key)}' does nothing here; ? shows the keys.`;
    }
  }
}

/** By which criterion a record is excluded, or why else; undefined where the person thought better of it. */
async function reasonFor(
  { criteria, note }: ScreeningView,
  io: Io,
  keys: Keys,
): Promise<{ readonly why?: string; readonly criterion?: string } | undefined> {
  let begun = note;
  if (criteria.length > 0) {
    io.stdout(`\n${criterionLines(criteria, note, io).join("\n")}\n`);
    const key = await keys.next();
    const criterion = criteria[Number(key) - 1]?.id;
    if (criterion !== undefined) return { criterion };
    if (key < " " || key === "\u007f") return undefined;
    // Who types the reason at once must not act on records with its letters.
    if (key !== "0") begun = key;
  }
  for (;;) {
    const why = await keys.line("Why is it excluded? ", begun);
    if (why === undefined) return undefined;
    if (why !== "") return { why };
    io.stdout("A reason is needed; Esc goes back.\n");
    begun = "";
  }
}

/** The criteria to choose from, and how another reason is typed. */
function criterionLines(criteria: readonly Criterion[], note: string, { columns, color }: Io): string[] {
  const { bold } = pc.createColors(color);
  const choice = (key: string, text: string): string[] =>
    labelledLines(`  ${key}  `, text, columns - 1).map((line) => line.replace(`  ${key}  `, `  ${bold(key)}  `));
  return [
    "Exclude by:",
    ...criteria
      .slice(0, 9)
      .flatMap(({ id, kind, text }, index) => choice(String(index + 1), `${id} (${kind}: ${oneLine(text)})`)),
    ...wrap(
      `Or type another reason, then Enter${note === "" ? "" : " (0 begins with your note)"}. Esc goes back.`,
      columns - 1,
    ),
  ];
}
