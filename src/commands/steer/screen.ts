import pc from "picocolors";
import { type ConfigFlags, configToRead } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { many } from "../../engine/lib/words.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { findResearch, nameFor } from "../../research/overview/find-research.js";
import {
  endOfList,
  type ScreeningView,
  openScreening,
  type Screening,
} from "../../research/overview/screen/session.js";
import { emptyListTexts, recordsToScreen, type WhichRecords } from "../../research/overview/screen/to-screen.js";
import { updateReport } from "../../research/report/documents/show-in-report.js";
import { readResearch } from "../../research/project-files/research.js";
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
  let decided = 0;
  try {
    decided = await goThrough(screening, which, keys, io);
  } finally {
    keys.close();
  }
  await screening.commit();
  const left = recordsToScreen((await readResearch(folder)).rrd, which === "all" ? "waiting" : which).length;
  const next = screening.next();
  say(io, `${many(decided, "decision")}; ${left === 0 ? "nothing waits for you" : `${many(left, "record")} left`}.`);
  if (left > 0) say(io, `'research-ralph screen ${where}' goes on from here.`);
  else if (next !== undefined) say(io, next);
  return 0;
}

const clear = "\u001b[2J\u001b[3J\u001b[H";

/** Shows record after record until all are gone through or the person quits; how many decisions stand. */
async function goThrough(screening: Screening, which: WhichRecords, keys: Keys, io: Io): Promise<number> {
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
    const { record, records, index, rrd, decisionTexts, note } = look;
    const told = message;
    message = "";
    if (record === undefined) {
      io.stdout(
        `${clear}${told === "" ? "" : `· ${told}\n\n`}That was the last record; ${decisionTexts.size} decided.\n\n${endLine(io)}\n`,
      );
      const key = await keys.next();
      if (key === "b") await to(index - 1);
      else if (key === "u") await undo();
      else return decisionTexts.size;
      continue;
    }
    const { id } = record;
    const head = { number: index + 1, of: records.length, decided: decisionTexts.size };
    const shown = { note, said: decisionTexts.get(id) ?? "", message: told };
    const keysShown = keyLines(io);
    // An empty line stands before the keys, and the cursor on the line after them.
    const maxLines =
      wholeId === id ? Number.POSITIVE_INFINITY : (io.rows ?? Number.POSITIVE_INFINITY) - keysShown.length - 2;
    const lines = recordLines(record, rrd, head, shown, io, maxLines);
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
        await screening.postpone(id);
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
        return decisionTexts.size;
      default:
        message = `'${oneLine(key)}' does nothing here.`;
    }
  }
}

/** By which criterion a record is excluded, or why else; undefined where the person thought better of it. */
async function reasonFor(
  { criteria, note }: ScreeningView,
  io: Io,
  keys: Keys,
): Promise<{ readonly why?: string; readonly criterion?: string } | undefined> {
  if (criteria.length > 0) {
    io.stdout("\nExclude by:\n");
    for (const [index, { id, kind, text }] of criteria.slice(0, 9).entries())
      io.stdout(`  ${pc.bold(String(index + 1))}  ${id} (${kind}: ${oneLine(text).slice(0, io.columns - 22)})\n`);
    io.stdout(`  ${pc.bold("0")}  another reason      Esc  back\n`);
    const key = await keys.next();
    const criterion = criteria[Number(key) - 1]?.id;
    if (criterion !== undefined) return { criterion };
    if (key !== "0") return undefined;
  }
  const why = await keys.line("Why is it excluded? ", note);
  return why === undefined || why.trim() === "" ? undefined : { why: why.trim() };
}
