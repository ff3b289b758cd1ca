import type { Tool, ToolResult } from "../../engine/tools/tool.js";

/** What a person answers to the question whether a call may be made; `always`: this one and others of its kind. */
export type Permission = "yes" | "no" | "always";

/** A call that waits for a person. */
export interface Question {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What would be done, in a few lines that can be printed as they are. */
  readonly preview: string;
}

/** All that the assistant's tools can reach. */
export interface ToolContext {
  /** The folder it was started in. No file outside of it is opened. Absolute. */
  readonly root: string;
  /** Estimated tokens that one result may take of the model's window. */
  readonly room: number;
  /** Asked before a call that writes or runs. */
  ask(question: Question): Promise<Permission>;
  /** The kinds of calls that a person allowed for good. */
  readonly allowed: Set<string>;
}

/** Estimated tokens of one result beside a window of so many: the work of an answer are several results. */
const roomFor = (window: number): number => Math.min(10_000, Math.floor(window / 6));

/** A tool of the assistant, as it is defined: one object in a file, one line in `list.ts`. */
export interface AssistantTool<Args = never> extends Tool<Args, ToolContext, ToolResult> {
  /** What the person who is asked is shown; its arguments where it has none. */
  preview?(given: Args, context: ToolContext): Promise<string>;
  /** The kind of call that `always` stands for; else every call of the tool. */
  kindOf?(given: Args): string;
}

/** What is needed to give tools all that they can reach. */
export interface Reaching {
  readonly root: string;
  /** Tokens of the model's window. */
  readonly window: number;
  readonly ask: ToolContext["ask"];
}

/** All that the tools of one session can reach. */
export const toolContext = ({ root, window, ask }: Reaching): ToolContext => ({
  root,
  room: roomFor(window),
  ask,
  allowed: new Set(),
});
