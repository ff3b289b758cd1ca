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
  exclusionFrom,
  type ScreeningView,
  openScreening,
  type Screening,
  standingText,
} from "../../research/overview/screen/session.js";
import { emptyListTexts, recordsToScreen, type WhichRecords } from "../../research/overview/screen/to-screen.js";
import { updateReport } from "../../research/report/documents/show-in-report.js";
import { readResearch } from "../../research/project-files/research.js";
import { exclusionBy } from "../../research/screening/eligibility/eligibility.js";
import { screenKeys } from "../help-text.js";
import { requirePerson } from "./require-person.js";
import { endKeysLine, keyLines, recordLines } from "./screen-lines.js";
import { ctrlC, type Keys, openKeys } from "./typed-keys.js";

interface ScreenArguments {
  readonly folder: string | undefined;
  readonly which: WhichRecords;
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

/** Shows records one by one on the terminal. The user decides on each of them with a key. */
export async function screenCommand(
  { folder: typedName, which, flags, json }: ScreenArguments,
  io: Io,
): Promise<number> {
  const folder = await findResearch(io.cwd, typedName).catch(async (error: unknown) => {
    const onlyFolder = error instanceof UnnamedWork ? await onlyProjectWithRecords(which, io) : undefined;
    if (onlyFolder === undefined) throw error;
    return onlyFolder;
  });
  const projectName = nameFor(io.cwd, folder);
  const { rrd } = await readResearch(folder);
  const records = recordsToScreen(rrd, which);
  if (json) {
    io.stdout(`${JSON.stringify({ folder, which, records }, null, 2)}\n`);
    return 0;
  }
  requirePerson(io.env);
  if (records.length === 0) {
    const allHint =
      which === "all"
        ? ""
        : ` 'research-ralph screen ${projectName} --all' shows every record that was screened or read.`;
    say(io, `${emptyListTexts[which]}${allHint}`);
    return 0;
  }
  const keys = openKeys(io);
  if (keys === undefined)
    throw new ExpectedError(
      "screen needs a terminal; 'research-ralph screen --json' lists the records, and decide takes a CSV file of decisions.",
      2,
    );
  const { git, stateDir } = await configToRead(io, flags, ["state_dir"]);
  const writeOptions = { stateDir, now: io.clock.now, notify: (message: string) => say(io, message) };
  const showInReport = () => updateReport(folder, { ...writeOptions, git: false });
  const screening = await openScreening({ ...writeOptions, folder, where: projectName, git, show: showInReport });
  let lastView: ScreeningView;
  try {
    lastView = await screenRecords(screening, projectName, which, keys, io);
  } finally {
    keys.close();
  }
  await screening.commit();
  const remainingCount = recordsToScreen((await readResearch(folder)).rrd, which === "all" ? "waiting" : which).length;
  const updateHint = screening.next();
  const maybeText = lastView.maybe.length === 0 ? "" : `, ${lastView.maybe.length} maybe`;
  say(
    io,
    `${quantity(lastView.decisionTexts.size, "decision")}${maybeText}; ${remainingCount === 0 ? "nothing waits for you" : `${quantity(remainingCount, "record")} left`}.`,
  );
  if (remainingCount > 0)
    say(
      io,
      `'research-ralph screen ${projectName}' continues here${maybeText === "" ? "" : "; the records that you marked maybe come last"}.`,
    );
  else if (updateHint !== undefined) say(io, updateHint);
  return 0;
}

const clearTerminal = "\u001b[2J\u001b[3J\u001b[H";

/** The project with records for this list, if there is exactly one. A message tells the user its name. */
async function onlyProjectWithRecords(which: WhichRecords, io: Io): Promise<string | undefined> {
  const folders: string[] = [];
  for (const folder of await listResearches(io.cwd)) {
    const state = await readResearch(folder).catch(() => undefined);
    if (state !== undefined && recordsToScreen(state.rrd, which).length > 0) folders.push(folder);
  }
  const [onlyFolder, ...otherFolders] = folders;
  if (onlyFolder === undefined || otherFolders.length > 0) return undefined;
  say(io, `Only ${nameFor(io.cwd, onlyFolder)} has records for this list; they are shown.`);
  return onlyFolder;
}

/** Shows records until the user quits, also after the last record. Returns the last view. */
async function screenRecords(
  screening: Screening,
  projectName: string,
  which: WhichRecords,
  keys: Keys,
  io: Io,
): Promise<ScreeningView> {
  // A dumb terminal can't be cleared.
  const clearOrNewline = io.isDumb === true ? "\n" : clearTerminal;
  let nextMessage = "";
  /** The id of the record that is shown with all its lines, after the key "a". */
  let unshortenedId: string | undefined;
  let view = await screening.look(which);
  const goTo = async (index: number): Promise<void> => {
    view = await screening.look(which, view.records[Math.max(0, index)]?.id ?? endOfList);
  };
  const undo = async (): Promise<void> => {
    const { says, id } = await screening.undo();
    nextMessage = says;
    view = await screening.look(which, id ?? view.record?.id ?? endOfList);
  };
  const decide = async (decision: Parameters<Screening["decide"]>[0]): Promise<void> => {
    try {
      nextMessage = await screening.decide(decision);
      await goTo(view.index + 1);
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      nextMessage = error.message;
    }
  };
  for (;;) {
    const { record, records, index, rrd, note } = view;
    const shownMessage = nextMessage;
    nextMessage = "";
    if (record === undefined) {
      io.stdout(
        `${clearOrNewline}${shownMessage === "" ? "" : `· ${shownMessage}\n\n`}That was the last record; ${decidedText(view)}.\n\n${endKeysLine(io)}\n`,
      );
      const key = await keys.next();
      if (key === "b") await goTo(index - 1);
      else if (key === "u") await undo();
      else return view;
      continue;
    }
    const { id } = record;
    const statusLine = `${index + 1} of ${records.length} · ${decidedText(view)} · ${record.name} ${standingText(record, view)}`;
    const linesOfKeys = keyLines(io);
    // Two more lines are needed: an empty one before the keys, and the line of the cursor after them.
    const maxLines =
      unshortenedId === id ? Number.POSITIVE_INFINITY : (io.rows ?? Number.POSITIVE_INFINITY) - linesOfKeys.length - 2;
    const lines = recordLines(
      record,
      rrd,
      { place: statusLine, note, message: shownMessage, show: `research-ralph show ${projectName} ${record.name}` },
      io,
      maxLines,
    );
    io.stdout(`${clearOrNewline}${lines.join("\n")}\n\n${linesOfKeys.join("\n")}\n`);
    const key = await keys.next();
    switch (key) {
      case "i":
        await decide({ id, decision: "include" });
        break;
      case "x": {
        const reason = await askForReason(view, io, keys);
        if (reason !== undefined) await decide({ id, decision: "exclude", ...reason });
        break;
      }
      case "m":
        nextMessage = await screening.postpone(id);
        await goTo(index + 1);
        break;
      case "n": {
        const text = await keys.line("Note: ", note);
        if (text !== undefined) await screening.note(id, text);
        await goTo(index);
        break;
      }
      case "a":
        unshortenedId = id;
        nextMessage = "This is all of the record.";
        break;
      case "b":
        await goTo(index - 1);
        break;
      case " ":
      case "s":
        await goTo(index + 1);
        break;
      case "u":
        await undo();
        break;
      case "q":
      case ctrlC:
      case "\u0004":
        return view;
      case "?":
        nextMessage = screenKeys;
        break;
      default:
        nextMessage = `'${oneLine(key)}' does nothing here; ? shows the keys.`;
    }
  }
}

/** Asks for the number of the criterion that excludes a record, or for another reason; undefined if Esc was pressed. */
async function askForReason(
  { criteria, note }: ScreeningView,
  io: Io,
  keys: Keys,
): Promise<{ readonly why?: string; readonly criterion?: string } | undefined> {
  if (criteria.length > 0) io.stdout(`\n${criterionLines(criteria, note, io).join("\n")}\n`);
  for (;;) {
    const typed = await keys.line("Why is it excluded? ", criteria.length === 0 ? note : "");
    if (typed === undefined) return undefined;
    const exclusion = exclusionFrom(typed === "" ? note : typed, typed === "" ? [] : criteria);
    if (typeof exclusion === "string") io.stdout(`${wrap(`${exclusion} Esc goes back.`, io.columns - 1).join("\n")}\n`);
    else if ("why" in exclusion && exclusion.why === "") io.stdout("A reason is needed; Esc goes back.\n");
    else return exclusion;
  }
}

/** The lines that offer the criteria, and explain how to type another reason. */
function criterionLines(criteria: readonly Criterion[], note: string, { columns, color }: Io): string[] {
  const { bold } = pc.createColors(color);
  const choiceLines = (key: string, text: string): string[] =>
    labelledLines(`  ${key}  `, text, columns - 1).map((line) => line.replace(`  ${key}  `, `  ${bold(key)}  `));
  return [
    "Exclude by:",
    ...criteria.flatMap((criterion, index) => choiceLines(String(index + 1), oneLine(exclusionBy(criterion)))),
    ...wrap(
      `Type a number or another reason, then Enter${note === "" ? "" : "; Enter alone gives your note"}. Esc goes back.`,
      columns - 1,
    ),
  ];
}
