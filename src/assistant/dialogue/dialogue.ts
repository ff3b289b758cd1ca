import { createInterface, type Interface } from "node:readline";
import { createColors } from "picocolors";
import { ExpectedError, messageOf } from "../../engine/lib/errors.js";
import type { Redact } from "../../engine/lib/redact.js";
import { textWidth, wrap } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import type { McpServers } from "../mcp/servers.js";
import type { Session } from "../session.js";
import type { Permission, ToolContext } from "../tools/context.js";
import { type AnswerView, answerView } from "./answer-view.js";
import { commandsFrom, leaving, onCommand } from "./commands.js";
import { pathsFrom, withFiles } from "./files.js";
import { addToHistory, pastLines } from "./history.js";
import { bracketedPaste, Keys } from "./keys.js";
import { Pastes } from "./pastes.js";

/** What a conversation needs of the terminal. */
export interface Ways {
  readonly ask: ToolContext["ask"];
  /** Prints a sentence above the line that is being typed. */
  readonly say: (sentence: string) => void;
}

interface Opened {
  readonly session: Session;
  readonly servers: McpServers;
}

const prompt = "> ";
const goesOn = "… ";
/** Milliseconds within which a second Ctrl+C leaves. */
const twiceMs = 1500;
/** Rows of a preview that are shown at once. */
const previewRows = 20;

interface KeyAnswer {
  readonly permission: Permission;
  readonly isStopped?: true;
}

/** What a key answers before the end of a preview, and once all of it was shown. */
const refusals: Readonly<Record<string, KeyAnswer>> = {
  n: { permission: "no" },
  "\u0003": { permission: "no", isStopped: true },
  "\u001b": { permission: "no", isStopped: true },
};
const answers: Readonly<Record<string, KeyAnswer>> = {
  ...refusals,
  y: { permission: "yes" },
  a: { permission: "always" },
};

/** A text as rows of a terminal: a long line is broken where it has to be. */
const rowsOf = (text: string, columns: number): string[] =>
  text.split("\n").flatMap((line) => line.match(new RegExp(`.{1,${Math.max(1, columns)}}`, "gsu")) ?? [""]);

/**
 * A dialogue on the terminal, until the user leaves. `open` is called once the prompt stands: what it loads, loads
 * while the user types. Aborting `signal` ends it.
 */
export async function dialogue({
  io,
  greeting,
  open,
  redact,
  signal,
}: {
  readonly io: Io;
  readonly greeting: string;
  readonly open: (ways: Ways) => Promise<Opened>;
  readonly redact: Redact;
  readonly signal: AbortSignal;
}): Promise<number> {
  const colors = createColors(io.color);
  const pastes = new Pastes();
  let view: AnswerView | undefined;
  let answer: AbortController | undefined;
  let isPrompting = false;
  let interruptedAt = Number.NEGATIVE_INFINITY;

  /** Whether this Ctrl+C is the second one. */
  const isSecond = (): boolean => {
    const now = io.clock.now();
    const second = now - interruptedAt < twiceMs;
    interruptedAt = now;
    return second;
  };
  const keys: Keys = new Keys(pastes, {
    interrupted() {
      answer?.abort();
      if (isSecond()) reader.close();
    },
    lineBeforeCursor: (): string => reader.line.slice(0, reader.cursor),
  });
  const raw = (on: boolean) => (io.stdin as { setRawMode?(on: boolean): void }).setRawMode?.(on);
  const restore = () => {
    io.stderr(bracketedPaste.off);
    raw(false);
  };
  raw(true);
  process.once("exit", restore);
  io.stderr(`${colors.dim(wrap(greeting, io.columns - 1).join("\n"))}\n${bracketedPaste.on}`);
  const reader: Interface = createInterface({
    input: keys,
    output: io.terminal,
    terminal: true,
    prompt: colors.bold(prompt),
    history: pastLines(io.env, pastes),
    historySize: 1000,
    removeHistoryDuplicates: true,
    completer: (line: string) => completed(line, io.cwd),
  });
  io.stdin.pipe(keys);

  const show = () => {
    isPrompting = true;
    reader.prompt();
    keys.release();
  };
  const say = (sentence: string): void => {
    const text = `${colors.yellow(wrap(sentence, io.columns - 1).join("\n"))}\n`;
    view?.pause();
    if (!isPrompting) return io.stderr(text);
    const { rows } = reader.getCursorPos();
    io.stderr(`\r${rows > 0 ? `\u001b[${rows}A` : ""}\u001b[J${text}`);
    // Else it would clear the rows above, where the sentence stands now.
    (reader as unknown as { prevRows: number }).prevRows = 0;
    reader.prompt(true);
  };
  const ask: Ways["ask"] = async ({ tool, preview }) => {
    view?.pause();
    const rows = rowsOf(preview, io.columns - 3).map((row) => `  ${row}`);
    // Nothing is allowed whose end was not seen.
    for (let at = 0; at < rows.length; at += previewRows) {
      io.stderr(`\n${rows.slice(at, at + previewRows).join("\n")}\n`);
      const left = rows.length - at - previewRows;
      if (left <= 0) break;
      const many = left === 1 ? "1 more line" : `${left} more lines`;
      io.stderr(`${colors.bold(`${many} of ${tool}.`)} space goes on · n no `);
      const next = await keys.answer((key) => (/[ \r\n]/.test(key) ? "next" : refusals[key.toLowerCase()]));
      if (next === "next") io.stderr("\n");
      else return settled(next);
    }
    const keysShown = "y yes · n no · a always";
    const fits = textWidth(`Allow ${tool}? ${keysShown} always`) < io.columns;
    const choice = fits ? ` ${keysShown}` : `\n${wrap(keysShown, io.columns - 8).join("\n")}`;
    io.stderr(`${colors.bold(`Allow ${tool}?`)}${choice} `);
    return settled(await keys.answer((key) => answers[key.toLowerCase()]));
  };
  const settled = ({ permission, isStopped }: KeyAnswer): Permission => {
    io.stderr(`${permission}\n`);
    if (isStopped === true) {
      answer?.abort();
      isSecond();
    }
    return permission;
  };

  const lines = linesOf(reader, keys, pastes, {
    submitted() {
      isPrompting = false;
      interruptedAt = Number.NEGATIVE_INFINITY;
    },
    typed: (line) => addToHistory(io.env, line, pastes, redact),
    interrupted(wasEmpty) {
      if (isSecond() && wasEmpty) return reader.close();
      if (wasEmpty) io.stderr(`\n${colors.dim("Ctrl+C again leaves.")}\n`);
      reader.prompt();
    },
    suspend: () => suspend(io, reader, raw),
    colors: { more: colors.dim(goesOn), first: colors.bold(prompt) },
  });
  const end = () => reader.close();
  signal.addEventListener("abort", end);
  io.readerGone.addEventListener("abort", end);
  show();

  const opening = open({ ask, say });
  // Told with the first message.
  opening.catch(() => undefined);
  try {
    for await (const line of lines) {
      const text = line.trim();
      if (leaving.includes(text.toLowerCase())) break;
      if (text !== "") {
        try {
          const opened = await opening;
          const said = text.startsWith("/") ? await untilStopped(onCommand(text, opened)) : undefined;
          if (said === undefined) await turn(text, opened.session);
          else io.stdout(`${inColumns(said, io.columns)}\n`);
        } catch (error) {
          if (!(error instanceof ExpectedError)) throw error;
          io.stderr(`${colors.red(wrap(messageOf(error), io.columns - 1).join("\n"))}\n`);
        }
      }
      if (signal.aborted || io.readerGone.aborted || isClosed(reader)) break;
      show();
    }
  } finally {
    signal.removeEventListener("abort", end);
    io.stdin.unpipe(keys);
    io.stdin.pause();
    reader.close();
    process.off("exit", restore);
    restore();
    const opened = await opening.catch(() => undefined);
    await opened?.session.save();
    const hint = (opened?.session.messages.length ?? 0) > 0 ? "ralph --continue goes on with this conversation." : "";
    const wrapped = wrap(hint, io.columns).map((line) => `${colors.dim(line)}\n`);
    if (!io.readerGone.aborted) io.stderr(`${isPrompting ? "\n" : ""}${hint === "" ? "" : wrapped.join("")}`);
    await opened?.session.close();
  }
  return signal.aborted ? (signal.reason === "SIGTERM" ? 143 : 130) : 0;

  /** What a command says, or that Ctrl+C came before: its server may never answer. */
  async function untilStopped(command: Promise<string | undefined>): Promise<string | undefined> {
    const stopped = new AbortController();
    answer = stopped;
    try {
      const stop = AbortSignal.any([stopped.signal, signal, io.readerGone]);
      const aborted = new Promise<string>((resolve) => {
        stop.addEventListener("abort", () => resolve("Stopped."), { once: true });
      });
      return await Promise.race([command, aborted]);
    } finally {
      answer = undefined;
      // What fails later is nobody's concern.
      command.catch(() => undefined);
    }
  }

  async function turn(text: string, session: Session): Promise<void> {
    answer = new AbortController();
    view = answerView(io, colors);
    try {
      const { message } = await withFiles(text, io.cwd, session.settings.window);
      const stop = AbortSignal.any([answer.signal, signal, io.readerGone]);
      const spoken = await session.answer(message, stop, (said) => view?.tell(said));
      view.end();
      if ("failure" in spoken) {
        const { toldFailure } = await import("../converse.js");
        const { kind } = spoken.failure;
        const shown = wrap(redact(toldFailure(spoken.failure, io.clock.now())), io.columns - 1).join("\n");
        io.stderr(kind === "aborted" ? colors.dim("Stopped.\n") : `${colors.red(shown)}\n`);
        if (kind === "aborted") keys.forget();
      }
      io.stdout("\n");
    } finally {
      view.end();
      view = undefined;
      answer = undefined;
    }
    await session.save();
  }
}

/**
 * Lines of a table without borders, the last column broken so that it stays below itself. Where the first takes more
 * than half the width, the second stands below it, set in by four.
 */
export function inColumns(text: string, columns: number): string {
  const lines = text.split("\n").flatMap((line) => {
    if (textWidth(line) < columns) return [line];
    const at = line.search(/(?<=\S) {2,}\S/);
    const second = at === -1 ? 0 : at + line.slice(at).search(/\S/);
    const lead = " ".repeat(line.search(/\S/));
    if (second > columns / 2)
      return [
        ...wrap(line.slice(lead.length, at), Math.max(10, columns - 1 - lead.length)).map((row) => lead + row),
        ...wrap(line.slice(second), Math.max(10, columns - 5)).map((row) => `    ${row}`),
      ];
    const indent = second === 0 ? 2 : second;
    const rows = wrap(line.slice(second), Math.max(10, columns - 1 - indent));
    return rows.map((row, place) => (place === 0 ? line.slice(0, second) : " ".repeat(indent)) + row);
  });
  return lines.join("\n");
}

const isClosed = (reader: Interface): boolean => (reader as unknown as { closed: boolean }).closed;

/** What Tab offers: commands, and behind an @ files of the folder. */
function completed(line: string, root: string): [string[], string] {
  const [, begun] = /(?:^|\s)@(\S*)$/.exec(line) ?? [];
  if (begun === undefined) return commandsFrom(line) ?? [[], line];
  return [pathsFrom(root, begun).map((path) => (path.endsWith("/") ? path : `${path} `)), begun];
}

/** Ctrl+Z: the shell gets its terminal back as it was, and we take it again when we go on. */
function suspend(io: Io, reader: Interface, raw: (on: boolean) => void): void {
  const again = () => {
    io.signals.off("SIGCONT", again);
    raw(true);
    io.stderr(bracketedPaste.on);
    reader.prompt(true);
  };
  io.signals.on("SIGCONT", again);
  io.stderr(bracketedPaste.off);
  raw(false);
  process.kill(process.pid, "SIGTSTP");
}

/**
 * The messages that are typed, with their pasted texts, until the line is closed. A line that ends with a backslash
 * goes on in the next one. Behind a message keys wait until the line is shown again.
 */
async function* linesOf(
  reader: Interface,
  keys: Keys,
  pastes: Pastes,
  on: {
    submitted(): void;
    /** A message as it was shown. */
    typed(line: string): void;
    interrupted(wasEmpty: boolean): void;
    suspend(): void;
    readonly colors: { readonly more: string; readonly first: string };
  },
): AsyncGenerator<string> {
  const waiting: string[] = [];
  let parts: string[] = [];
  let isOver = false;
  let wake = () => undefined as void;
  reader.on("line", (line) => {
    if (/(?<!\\)(?:\\\\)*\\$/.test(line)) {
      parts.push(line.slice(0, -1));
      reader.setPrompt(on.colors.more);
      return reader.prompt();
    }
    const whole = [...parts, line];
    reader.setPrompt(on.colors.first);
    parts = [];
    // Behind the line, keys wait from now on.
    keys.hold();
    on.submitted();
    const { history } = reader as unknown as { history: string[] };
    const shown = whole.length === 1 ? line : pastes.label(pastes.expanded(whole.join("\n")));
    if (whole.length > 1) history.splice(0, whole.filter((part) => part !== "").length, shown);
    if (shown.trim() !== "") on.typed(shown);
    waiting.push(pastes.expanded(shown));
    wake();
  });
  reader.on("SIGINT", () => {
    const wasEmpty = reader.line === "" && parts.length === 0;
    parts = [];
    reader.setPrompt(on.colors.first);
    reader.write(null, { ctrl: true, name: "e" });
    reader.write(null, { ctrl: true, name: "u" });
    on.interrupted(wasEmpty);
  });
  reader.on("SIGTSTP", () => on.suspend());
  reader.on("close", () => {
    isOver = true;
    wake();
  });
  for (;;) {
    const next = waiting.shift();
    if (next !== undefined) yield next;
    else if (isOver) return;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
}
