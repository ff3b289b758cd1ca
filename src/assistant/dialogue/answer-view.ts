import type { Colors } from "picocolors/types.js";
import { oneLine, sanitise } from "../../engine/lib/sanitise.js";
import type { ToolResult } from "../../engine/tools/tool.js";
import { shortDuration, quantity } from "../../engine/lib/words.js";
import { truncate, wrap } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import type { ConversationEvent } from "../converse.js";
import { MarkdownPrinter } from "./markdown.js";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const clearLine = "\r\u001b[K";

/** Shows an answer on a terminal while it arrives: formatted text, marked thinking, and a dim line for each tool. */
export interface AnswerView {
  tell(event: ConversationEvent): void;
  /** Hides the animated status line, so that a question can be shown. */
  pause(): void;
  /** Prints the rest of the answer. */
  end(): void;
}

export function answerView(io: Io, colors: Colors): AnswerView {
  const startedAt = io.clock.now();
  let activity = "Thinking";
  let timer: NodeJS.Timeout | undefined;
  let isStatusShown = false;
  let frame = 0;
  let lastPart: "nothing" | "thinking" | "text" | "tool" = "nothing";
  let calls: Extract<ConversationEvent, { type: "tool" }>[] = [];

  const paint = () => {
    const line = `${frames[(frame += 1) % frames.length]} ${activity} ${shortDuration(io.clock.now() - startedAt)} · Ctrl+C stops`;
    io.stderr(`${clearLine}${colors.dim(truncate(line, io.columns - 1))}`);
    isStatusShown = true;
  };
  const hideStatus = () => {
    clearInterval(timer);
    timer = undefined;
    if (isStatusShown) io.stderr(clearLine);
    isStatusShown = false;
  };
  const showStatus = (newActivity: string) => {
    activity = newActivity;
    if (timer !== undefined) return;
    timer = setInterval(paint, 120);
    timer.unref();
  };
  const write = (text: string) => {
    const wasShown = timer !== undefined;
    hideStatus();
    io.stdout(text);
    if (wasShown) showStatus(activity);
  };
  /** Prints an empty line between parts of different kinds. */
  const startPart = (part: typeof lastPart) => {
    if (lastPart !== "nothing" && lastPart !== part) write("\n");
    lastPart = part;
  };
  const markdownPrinter = new MarkdownPrinter({ colors, columns: () => io.columns, write });
  const thoughtLines = new ThoughtLines(
    (line) => write(`${colors.dim(colors.italic(line))}\n`),
    () => io.columns,
  );
  showStatus("Thinking");

  return {
    pause: hideStatus,
    tell(event) {
      if (event.type === "text") {
        if (lastPart === "thinking") thoughtLines.end();
        if (lastPart !== "text" && event.text.trim() === "") return;
        startPart("text");
        markdownPrinter.add(sanitise(event.text));
        showStatus("Writing");
      } else if (event.type === "thinking") {
        startPart("thinking");
        thoughtLines.add(sanitise(event.text));
      } else if (event.type === "tool") {
        markdownPrinter.end();
        thoughtLines.end();
        calls = [...calls, event];
        showStatus(truncate(`${event.name} ${firstTextOf(event.input)}`, 60));
      } else if (event.type === "tool-result") {
        startPart("tool");
        const call = calls.find(({ name }) => name === event.name);
        calls = calls.filter((candidate) => candidate !== call);
        write(`${toolLine(event.name, call?.input, event.result, colors, io.columns)}\n`);
        showStatus("Thinking");
      } else if (event.type === "retry") {
        markdownPrinter.end();
        thoughtLines.end();
        write(`${colors.yellow(wrap(event.reason, io.columns - 1).join("\n"))}\n`);
        lastPart = "nothing";
      } else if (event.type === "compacted") {
        markdownPrinter.end();
        write(`${colors.dim("· Older parts of the conversation are shortened.")}\n`);
      }
    },
    end() {
      hideStatus();
      markdownPrinter.end();
      thoughtLines.end();
      hideStatus();
    },
  };
}

/** Prints the model's thinking in complete lines, each with a bar before it. */
class ThoughtLines {
  #line = "";
  readonly #write: (line: string) => void;
  readonly #columns: () => number;

  constructor(write: (line: string) => void, columns: () => number) {
    this.#write = write;
    this.#columns = columns;
  }

  add(text: string): void {
    const lines = (this.#line + text).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) this.#printRows(line);
    if (this.#line.length < 2000) return;
    this.#printRows(this.#line);
    this.#line = "";
  }

  end(): void {
    if (this.#line.trim() !== "") this.#printRows(this.#line);
    this.#line = "";
  }

  #printRows(line: string): void {
    for (const row of wrap(line, Math.max(10, this.#columns() - 3))) this.#write(`│ ${row}`);
  }
}

/** The first text among the arguments of a call. */
function firstTextOf(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const first = Object.values(input).find((value) => typeof value === "string" && value !== "");
  return first === undefined ? "" : oneLine(String(first).slice(0, 300));
}

/** One dim line about a call: its tool, its subject and its result. */
function toolLine(name: string, input: unknown, result: ToolResult, colors: Colors, columns: number): string {
  const outcome = oneLine(outcomeOf(result)).slice(0, 300);
  const callText = truncate(`${name} ${firstTextOf(input)}`.trim(), Math.max(20, columns - 30));
  const line = truncate(`● ${callText}${outcome === "" ? "" : ` · ${outcome}`}`, columns - 1);
  return result.success ? colors.dim(line) : colors.dim(colors.red(line));
}

/** Numbers in results that summarise them; the first one that a result has is shown. */
const resultCounts: readonly (readonly [field: string, words: (value: number) => string])[] = [
  ["total_lines", (value) => quantity(value, "line")],
  ["total_matches", (value) => `${value} ${value === 1 ? "match" : "matches"}`],
  ["total", (value) => `${value} ${value === 1 ? "entry" : "entries"}`],
  ["exit_code", (value) => `exit code ${value}`],
  ["bytes_written", (value) => quantity(value, "byte")],
  ["completed", (value) => `${value} done`],
];

function outcomeOf(result: ToolResult): string {
  if (!result.success) return result.error;
  for (const [field, toText] of resultCounts) {
    const value = result[field];
    if (typeof value === "number") return toText(value);
  }
  const list = Object.entries(result).find(([, value]) => Array.isArray(value));
  if (list !== undefined) return `${(list[1] as readonly unknown[]).length} ${list[0]}`;
  const { content } = result;
  return typeof content === "string" ? content.slice(0, 300) : "";
}
