import type { Colors } from "picocolors/types.js";
import { oneLine, sanitise } from "../../engine/lib/sanitise.js";
import type { ToolResult } from "../../engine/tools/tool.js";
import { duration, many } from "../../engine/lib/words.js";
import { truncate, wrap } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import type { Said } from "../converse.js";
import { MarkdownSetter } from "./markdown.js";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const clearLine = "\r\u001b[K";

/** Shows an answer on a terminal while it comes: its words set, thinking apart, a dim line for each tool. */
export interface AnswerView {
  tell(said: Said): void;
  /** Takes what moves off the screen, so that a question can stand there. */
  pause(): void;
  /** Sets what is left of the answer. */
  end(): void;
}

/** `begunAt`: milliseconds since the epoch. */
export function answerView(io: Io, colors: Colors): AnswerView {
  const begunAt = io.clock.now();
  let doing = "Thinking";
  let timer: NodeJS.Timeout | undefined;
  let isStatusShown = false;
  let frame = 0;
  let shows: "nothing" | "thinking" | "text" | "tool" = "nothing";
  let calls: Extract<Said, { type: "tool" }>[] = [];

  const paint = () => {
    const line = `${frames[(frame += 1) % frames.length]} ${doing} ${duration(io.clock.now() - begunAt)} · Ctrl+C stops`;
    io.stderr(`${clearLine}${colors.dim(truncate(line, io.columns - 1))}`);
    isStatusShown = true;
  };
  const rest = () => {
    clearInterval(timer);
    timer = undefined;
    if (isStatusShown) io.stderr(clearLine);
    isStatusShown = false;
  };
  const wait = (what: string) => {
    doing = what;
    if (timer !== undefined) return;
    timer = setInterval(paint, 120);
    timer.unref();
  };
  const write = (text: string) => {
    const goesOn = timer !== undefined;
    rest();
    io.stdout(text);
    if (goesOn) wait(doing);
  };
  /** A line between parts of different kinds. */
  const begin = (part: typeof shows) => {
    if (shows !== "nothing" && shows !== part) write("\n");
    shows = part;
  };
  const setter = new MarkdownSetter({ colors, columns: () => io.columns, write });
  const thoughts = new ThoughtLines(
    (line) => write(`${colors.dim(colors.italic(line))}\n`),
    () => io.columns,
  );
  wait("Thinking");

  return {
    pause: rest,
    tell(said) {
      if (said.type === "text") {
        if (shows === "thinking") thoughts.end();
        if (shows !== "text" && said.text.trim() === "") return;
        begin("text");
        setter.add(sanitise(said.text));
        wait("Writing");
      } else if (said.type === "thinking") {
        begin("thinking");
        thoughts.add(sanitise(said.text));
      } else if (said.type === "tool") {
        setter.end();
        thoughts.end();
        calls = [...calls, said];
        wait(truncate(`${said.name} ${subjectOf(said.input)}`, 60));
      } else if (said.type === "tool-result") {
        begin("tool");
        const call = calls.find(({ name }) => name === said.name);
        calls = calls.filter((each) => each !== call);
        write(`${toolLine(said.name, call?.input, said.result, colors, io.columns)}\n`);
        wait("Thinking");
      } else if (said.type === "again") {
        setter.end();
        thoughts.end();
        write(`${colors.yellow(wrap(said.reason, io.columns - 1).join("\n"))}\n`);
        shows = "nothing";
      } else if (said.type === "compacted") {
        setter.end();
        write(`${colors.dim("· Older parts of the conversation are shortened.")}\n`);
      }
    },
    end() {
      rest();
      setter.end();
      thoughts.end();
      rest();
    },
  };
}

/** Thinking, in whole lines with a bar before each. */
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
    for (const line of lines) this.#rows(line);
    if (this.#line.length < 2000) return;
    this.#rows(this.#line);
    this.#line = "";
  }

  end(): void {
    if (this.#line.trim() !== "") this.#rows(this.#line);
    this.#line = "";
  }

  #rows(line: string): void {
    for (const row of wrap(line, Math.max(10, this.#columns() - 3))) this.#write(`│ ${row}`);
  }
}

/** What a call is about: its first text. */
function subjectOf(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const first = Object.values(input).find((value) => typeof value === "string" && value !== "");
  return first === undefined ? "" : oneLine(String(first).slice(0, 300));
}

/** One dim line: what was called, on what, and what came of it. */
export function toolLine(name: string, input: unknown, result: ToolResult, colors: Colors, columns: number): string {
  const outcome = oneLine(outcomeOf(result)).slice(0, 300);
  const about = truncate(`${name} ${subjectOf(input)}`.trim(), Math.max(20, columns - 30));
  const line = truncate(`● ${about}${outcome === "" ? "" : ` · ${outcome}`}`, columns - 1);
  return result.success ? colors.dim(line) : colors.dim(colors.red(line));
}

/** Fields of results that say in a word what was found; the first that is there counts. */
const counts: readonly (readonly [field: string, words: (value: number) => string])[] = [
  ["total_lines", (value) => many(value, "line")],
  ["total_matches", (value) => `${value} ${value === 1 ? "match" : "matches"}`],
  ["total", (value) => `${value} ${value === 1 ? "entry" : "entries"}`],
  ["exit_code", (value) => `exit code ${value}`],
  ["bytes_written", (value) => many(value, "byte")],
  ["completed", (value) => `${value} done`],
];

function outcomeOf(result: ToolResult): string {
  if (!result.success) return result.error;
  for (const [field, words] of counts) {
    const value = result[field];
    if (typeof value === "number") return words(value);
  }
  const list = Object.entries(result).find(([, value]) => Array.isArray(value));
  if (list !== undefined) return `${(list[1] as readonly unknown[]).length} ${list[0]}`;
  const { content } = result;
  return typeof content === "string" ? content.slice(0, 300) : "";
}
