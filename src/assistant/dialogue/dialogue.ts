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
import { commandsFrom, exitWords, runDialogueCommand } from "./commands.js";
import { completePath, withFiles } from "./files.js";
import { addToHistory, pastLines } from "./history.js";
import { bracketedPaste, Keys } from "./keys.js";
import { Pastes } from "./pastes.js";

/** How a conversation uses the terminal. */
export interface TerminalActions {
  readonly ask: ToolContext["ask"];
  /** Prints a sentence above the line that the user is typing. */
  readonly say: (sentence: string) => void;
}

interface OpenConversation {
  readonly session: Session;
  readonly servers: McpServers;
}

const prompt = "> ";
const continuationPrompt = "… ";
/** Two Ctrl+C within so many milliseconds leave the dialogue. */
const doubleInterruptMs = 1500;
/** Maximum number of rows of a preview that are shown at once. */
const maxPreviewRows = 20;

interface KeyAnswer {
  readonly permission: Permission;
  /** The key also stops the model's answer. */
  readonly stopsAnswer?: true;
}

/** The keys that answer a question before the end of its preview is shown. */
const refusals: Readonly<Record<string, KeyAnswer>> = {
  n: { permission: "no" },
  "\u0003": { permission: "no", stopsAnswer: true },
  "\u001b": { permission: "no", stopsAnswer: true },
};
/** The keys that answer a question after the end of its preview. */
const answers: Readonly<Record<string, KeyAnswer>> = {
  ...refusals,
  y: { permission: "yes" },
  a: { permission: "always" },
};

/** The rows of a text on a terminal. Long lines are broken at the width. */
const terminalRows = (text: string, columns: number): string[] =>
  text.split("\n").flatMap((line) => line.match(new RegExp(`.{1,${Math.max(1, columns)}}`, "gsu")) ?? [""]);

/**
 * Runs a dialogue on the terminal until the user leaves. `open` is called after the prompt is shown, so that it loads
 * while the user types. Aborting `signal` ends the dialogue.
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
  readonly open: (terminalActions: TerminalActions) => Promise<OpenConversation>;
  readonly redact: Redact;
  readonly signal: AbortSignal;
}): Promise<number> {
  const colors = createColors(io.color);
  const pastes = new Pastes();
  let view: AnswerView | undefined;
  let answerController: AbortController | undefined;
  let isPrompting = false;
  let interruptedAt = Number.NEGATIVE_INFINITY;

  /** Whether this Ctrl+C follows another one within a short time. */
  const isSecondInterrupt = (): boolean => {
    const now = io.clock.now();
    const isSoon = now - interruptedAt < doubleInterruptMs;
    interruptedAt = now;
    return isSoon;
  };
  const keys: Keys = new Keys(pastes, {
    onInterrupt() {
      answerController?.abort();
      if (isSecondInterrupt()) reader.close();
    },
    lineBeforeCursor: (): string => reader.line.slice(0, reader.cursor),
  });
  const setRawMode = (on: boolean) => (io.stdin as { setRawMode?(on: boolean): void }).setRawMode?.(on);
  const restore = () => {
    io.stderr(bracketedPaste.off);
    setRawMode(false);
  };
  setRawMode(true);
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
    completer: (line: string) => completions(line, io.cwd),
  });
  io.stdin.pipe(keys);

  const showPrompt = () => {
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
    // Otherwise readline would clear the rows above, where the sentence is now.
    (reader as unknown as { prevRows: number }).prevRows = 0;
    reader.prompt(true);
  };
  const ask: TerminalActions["ask"] = async ({ tool, preview }) => {
    view?.pause();
    const rows = terminalRows(preview, io.columns - 3).map((row) => `  ${row}`);
    // The user must see the end of a preview before they can allow it.
    for (let rowIndex = 0; rowIndex < rows.length; rowIndex += maxPreviewRows) {
      io.stderr(`\n${rows.slice(rowIndex, rowIndex + maxPreviewRows).join("\n")}\n`);
      const remainingRows = rows.length - rowIndex - maxPreviewRows;
      if (remainingRows <= 0) break;
      const remainingText = remainingRows === 1 ? "1 more line" : `${remainingRows} more lines`;
      io.stderr(`${colors.bold(`${remainingText} of ${tool}.`)} space continues · n no `);
      const keyAnswer = await keys.answer((key) => (/[ \r\n]/.test(key) ? "next" : refusals[key.toLowerCase()]));
      if (keyAnswer === "next") io.stderr("\n");
      else return finishQuestion(keyAnswer);
    }
    const keyHelp = "y yes · n no · a always";
    const fitsInLine = textWidth(`Allow ${tool}? ${keyHelp} always`) < io.columns;
    const choice = fitsInLine ? ` ${keyHelp}` : `\n${wrap(keyHelp, io.columns - 8).join("\n")}`;
    io.stderr(`${colors.bold(`Allow ${tool}?`)}${choice} `);
    return finishQuestion(await keys.answer((key) => answers[key.toLowerCase()]));
  };
  const finishQuestion = ({ permission, stopsAnswer }: KeyAnswer): Permission => {
    io.stderr(`${permission}\n`);
    if (stopsAnswer === true) {
      answerController?.abort();
      isSecondInterrupt();
    }
    return permission;
  };

  const messages = readMessages(reader, keys, pastes, {
    onSubmit() {
      isPrompting = false;
      interruptedAt = Number.NEGATIVE_INFINITY;
    },
    onMessage: (line) => addToHistory(io.env, line, pastes, redact),
    onInterrupt(wasEmpty) {
      if (isSecondInterrupt() && wasEmpty) return reader.close();
      if (wasEmpty) io.stderr(`\n${colors.dim("Press Ctrl+C again to leave.")}\n`);
      reader.prompt();
    },
    onSuspend: () => suspend(io, reader, setRawMode),
    prompts: { continuation: colors.dim(continuationPrompt), first: colors.bold(prompt) },
  });
  const closeReader = () => reader.close();
  signal.addEventListener("abort", closeReader);
  io.readerGone.addEventListener("abort", closeReader);
  showPrompt();

  const openPromise = open({ ask, say });
  // An error is reported with the first message.
  openPromise.catch(() => undefined);
  try {
    for await (const message of messages) {
      const text = message.trim();
      if (exitWords.includes(text.toLowerCase())) break;
      if (text !== "") {
        try {
          const conversation = await openPromise;
          const commandOutput = text.startsWith("/")
            ? await runUntilStopped(runDialogueCommand(text, conversation))
            : undefined;
          if (commandOutput === undefined) await answerMessage(text, conversation.session);
          else io.stdout(`${wrapTable(commandOutput, io.columns)}\n`);
        } catch (error) {
          if (!(error instanceof ExpectedError)) throw error;
          io.stderr(`${colors.red(wrap(messageOf(error), io.columns - 1).join("\n"))}\n`);
        }
      }
      if (signal.aborted || io.readerGone.aborted || isClosed(reader)) break;
      showPrompt();
    }
  } finally {
    signal.removeEventListener("abort", closeReader);
    io.stdin.unpipe(keys);
    io.stdin.pause();
    reader.close();
    process.off("exit", restore);
    restore();
    const conversation = await openPromise.catch(() => undefined);
    await conversation?.session.save();
    const hint =
      (conversation?.session.messages.length ?? 0) > 0 ? "ralph --continue goes on with this conversation." : "";
    const wrapped = wrap(hint, io.columns).map((line) => `${colors.dim(line)}\n`);
    if (!io.readerGone.aborted) io.stderr(`${isPrompting ? "\n" : ""}${hint === "" ? "" : wrapped.join("")}`);
    await conversation?.session.close();
  }
  return signal.aborted ? (signal.reason === "SIGTERM" ? 143 : 130) : 0;

  /** The output of a command, or "Stopped." after Ctrl+C, because the server of a command may never answer. */
  async function runUntilStopped(command: Promise<string | undefined>): Promise<string | undefined> {
    const stopController = new AbortController();
    answerController = stopController;
    try {
      const stopSignal = AbortSignal.any([stopController.signal, signal, io.readerGone]);
      const stopPromise = new Promise<string>((resolve) => {
        stopSignal.addEventListener("abort", () => resolve("Stopped."), { once: true });
      });
      return await Promise.race([command, stopPromise]);
    } finally {
      answerController = undefined;
      // After Ctrl+C nothing waits for the command, so its errors are ignored.
      command.catch(() => undefined);
    }
  }

  async function answerMessage(text: string, session: Session): Promise<void> {
    answerController = new AbortController();
    view = answerView(io, colors);
    try {
      const message = await withFiles(text, io.cwd, session.settings.window);
      const stopSignal = AbortSignal.any([answerController.signal, signal, io.readerGone]);
      const result = await session.answer(message, stopSignal, (event) => view?.tell(event));
      view.end();
      if ("failure" in result) {
        const { failureText } = await import("../converse.js");
        const { kind } = result.failure;
        const failureLines = wrap(redact(failureText(result.failure, io.clock.now())), io.columns - 1).join("\n");
        io.stderr(kind === "aborted" ? colors.dim("Stopped.\n") : `${colors.red(failureLines)}\n`);
        if (kind === "aborted") keys.forget();
      }
      io.stdout("\n");
    } finally {
      view.end();
      view = undefined;
      answerController = undefined;
    }
    await session.save();
  }
}

/**
 * Wraps a table of two columns without borders, so that the second column stays aligned. If the first column takes more
 * than half of the width, the second column is put below it, indented by four.
 */
export function wrapTable(text: string, columns: number): string {
  const lines = text.split("\n").flatMap((line) => {
    if (textWidth(line) < columns) return [line];
    const firstColumnEnd = line.search(/(?<=\S) {2,}\S/);
    const secondColumn = firstColumnEnd === -1 ? 0 : firstColumnEnd + line.slice(firstColumnEnd).search(/\S/);
    const indentation = " ".repeat(line.search(/\S/));
    if (secondColumn > columns / 2)
      return [
        ...wrap(line.slice(indentation.length, firstColumnEnd), Math.max(10, columns - 1 - indentation.length)).map(
          (row) => indentation + row,
        ),
        ...wrap(line.slice(secondColumn), Math.max(10, columns - 5)).map((row) => `    ${row}`),
      ];
    const indent = secondColumn === 0 ? 2 : secondColumn;
    const rows = wrap(line.slice(secondColumn), Math.max(10, columns - 1 - indent));
    return rows.map((row, index) => (index === 0 ? line.slice(0, secondColumn) : " ".repeat(indent)) + row);
  });
  return lines.join("\n");
}

const isClosed = (reader: Interface): boolean => (reader as unknown as { closed: boolean }).closed;

/** Completions for Tab: commands, or file names after an @. */
function completions(line: string, root: string): [string[], string] {
  const [, typedName] = /(?:^|\s)@(\S*)$/.exec(line) ?? [];
  if (typedName === undefined) return commandsFrom(line) ?? [[], line];
  return [completePath(root, typedName).map((path) => (path.endsWith("/") ? path : `${path} `)), typedName];
}

/** Ctrl+Z: restores the terminal for the shell, and sets it up again when the process continues. */
function suspend(io: Io, reader: Interface, setRawMode: (on: boolean) => void): void {
  const onContinue = () => {
    io.signals.off("SIGCONT", onContinue);
    setRawMode(true);
    io.stderr(bracketedPaste.on);
    reader.prompt(true);
  };
  io.signals.on("SIGCONT", onContinue);
  io.stderr(bracketedPaste.off);
  setRawMode(false);
  process.kill(process.pid, "SIGTSTP");
}

/**
 * Yields the messages that the user types, with their pasted texts, until the reader is closed. If a line ends with a
 * backslash, the message continues on the next line. After a message, keys are held until the next prompt.
 */
async function* readMessages(
  reader: Interface,
  keys: Keys,
  pastes: Pastes,
  listeners: {
    onSubmit(): void;
    /** Called with each message, with labels in place of pasted texts. */
    onMessage(line: string): void;
    onInterrupt(wasEmpty: boolean): void;
    onSuspend(): void;
    readonly prompts: { readonly continuation: string; readonly first: string };
  },
): AsyncGenerator<string> {
  const messages: string[] = [];
  let previousLines: string[] = [];
  let isOver = false;
  let wake = () => undefined as void;
  reader.on("line", (line) => {
    if (/(?<!\\)(?:\\\\)*\\$/.test(line)) {
      previousLines.push(line.slice(0, -1));
      reader.setPrompt(listeners.prompts.continuation);
      return reader.prompt();
    }
    const lines = [...previousLines, line];
    reader.setPrompt(listeners.prompts.first);
    previousLines = [];
    keys.hold();
    listeners.onSubmit();
    const { history } = reader as unknown as { history: string[] };
    const message = lines.length === 1 ? line : pastes.label(pastes.expand(lines.join("\n")));
    if (lines.length > 1) history.splice(0, lines.filter((part) => part !== "").length, message);
    if (message.trim() !== "") listeners.onMessage(message);
    messages.push(pastes.expand(message));
    wake();
  });
  reader.on("SIGINT", () => {
    const wasEmpty = reader.line === "" && previousLines.length === 0;
    previousLines = [];
    reader.setPrompt(listeners.prompts.first);
    reader.write(null, { ctrl: true, name: "e" });
    reader.write(null, { ctrl: true, name: "u" });
    listeners.onInterrupt(wasEmpty);
  });
  reader.on("SIGTSTP", () => listeners.onSuspend());
  reader.on("close", () => {
    isOver = true;
    wake();
  });
  for (;;) {
    const message = messages.shift();
    if (message !== undefined) yield message;
    else if (isOver) return;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
}
