import type { GuardedRead } from "../../text/documents/guarded-reader.js";
import type { DocumentHints } from "../../text/documents/read-document.js";
import type { Memory } from "../../memory/memory.js";
import type { Http } from "../../net/http.js";
import type { Exec } from "../../engine/process/run-process.js";
import type { Tool, ToolFailure, ToolResult } from "../../engine/tools/tool.js";

/** What a person answers to the question whether a call may be made; `always`: this one and others of its kind. */
export type Permission = "yes" | "no" | "always";

/** A call that waits for a person. */
export interface Question {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What would be done, in a few lines that can be printed as they are. */
  readonly preview: string;
}

/** One task of the list that the model keeps for itself. */
export interface Todo {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
  /** The same as what is being done: "Running the tests". */
  readonly activeForm: string;
}

/** All that the assistant's tools can reach. */
export interface ToolContext {
  /** The folder it was started in. No file outside of it is opened. Absolute. */
  readonly root: string;
  /** Estimated tokens that one result may take of the model's window. */
  readonly room: number;
  /** Where files are kept as they were before a tool changed them. Absolute; absent: nowhere. */
  readonly backups?: string;
  /** The environment of programs that a tool starts. Secrets in it are taken out of their output. */
  readonly env: NodeJS.ProcessEnv;
  /** Starts a program in a process group of its own. */
  readonly exec: Exec;
  /** The user's memory, opened by the first call that needs it; one sentence where it does not open. */
  memory(): Promise<Memory | string>;
  /** Access to the network at the pace of its hosts; no private address is asked. */
  http(signal: AbortSignal): Promise<Http>;
  /** Reads a document of a stranger within bounds of time and memory. */
  readDocument(bytes: Uint8Array, hints: DocumentHints & { readonly signal?: AbortSignal }): Promise<GuardedRead>;
  /** Asked before a call that writes or runs. */
  ask(question: Question): Promise<Permission>;
  /** The kinds of calls that a person allowed for good. */
  readonly allowed: Set<string>;
  /** The model's own list of tasks; replaced as a whole. */
  todos: readonly Todo[];
}

/** A tool of the assistant, as it is defined: one object in a file, one line in `list.ts`. */
export interface AssistantTool<Args = never> extends Tool<Args, ToolContext, ToolResult> {
  /** Why a call is not made, even where a person allows it; looked at before a person is asked. */
  refuses?(given: Args, context: ToolContext): ToolFailure | undefined;
  /** What the person who is asked is shown; its arguments where it has none. */
  preview?(given: Args, context: ToolContext): Promise<string>;
  /** The kind of call that `always` stands for; else every call of the tool. */
  kindOf?(given: Args): string;
}

/** What the program hands to the assistant of the other wings. Each part is loaded when a tool first needs it. */
export interface Handed {
  /** Read-only tools on the research project that `ralph` is started in; none where there is no such project. */
  readonly tools: () => Promise<readonly AssistantTool[]>;
  /** Those that a brief of the loop names, by the flags it gives. */
  readonly briefTools: (flags: readonly string[]) => Promise<readonly AssistantTool[]>;
  readonly http: ToolContext["http"];
  readonly readDocument: ToolContext["readDocument"];
}

/** What is needed to give tools all that they can reach. */
export interface Reaching extends Pick<
  ToolContext,
  "root" | "backups" | "env" | "exec" | "memory" | "http" | "readDocument" | "ask"
> {
  /** Tokens of the model's window. */
  readonly window: number;
}

/** Estimated tokens of one result in a window of so many: the work of an answer are several results. */
const roomFor = (window: number): number => Math.min(10_000, Math.floor(window / 6));

/** All that the tools of one session can reach. */
export const toolContext = ({ window, ...reaching }: Reaching): ToolContext => ({
  ...reaching,
  room: roomFor(window),
  allowed: new Set(),
  todos: [],
});
