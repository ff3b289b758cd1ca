import type { GuardedRead } from "../../text/documents/guarded-reader.js";
import type { DocumentHints } from "../../text/documents/read-document.js";
import type { Memory } from "../../memory/memory.js";
import type { Http } from "../../net/http.js";
import type { Exec } from "../../engine/process/run-process.js";
import type { Tool, ToolFailure, ToolResult } from "../../engine/tools/tool.js";

/** The user's answer to the question whether a call is allowed. `always`: also for later calls of the same kind. */
export type Permission = "yes" | "no" | "always";

/** A call that needs the user's permission. */
export interface Question {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The text that describes the call to the user. It contains no control characters. */
  readonly preview: string;
}

/** One item of the model's task list. */
export interface Todo {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
  /** The content in the form "Running the tests". */
  readonly activeForm: string;
}

/** Everything that the assistant's tools can use. */
export interface ToolContext {
  /** The absolute path of the start folder. No file outside of it is opened. */
  readonly root: string;
  /** Maximum estimated tokens of one result. */
  readonly maxResultTokens: number;
  /** Absolute path of the folder for copies of files before a tool changes them; absent if no copies are made. */
  readonly backupFolder?: string;
  /** The environment of programs that a tool starts. Secrets are removed from their output. */
  readonly env: NodeJS.ProcessEnv;
  /** Starts a program in a separate process group. */
  readonly exec: Exec;
  /** The user's memory, opened by the first call; a sentence if it can't be opened. */
  memory(): Promise<Memory | string>;
  /** Access to the network with rate limits for each host. Private addresses are refused. */
  http(signal: AbortSignal): Promise<Http>;
  /** Reads an untrusted document with limits of time and memory. */
  readDocument(bytes: Uint8Array, hints: DocumentHints & { readonly signal?: AbortSignal }): Promise<GuardedRead>;
  /** Asks the user before a call that writes or runs something. */
  ask(question: Question): Promise<Permission>;
  /** The kinds of calls that the user has allowed with `always`. */
  readonly allowedKinds: Set<string>;
  /** The model's task list. It is replaced as a whole. */
  todos: readonly Todo[];
}

/** The definition of a tool: one object in a file, and one line in `list.ts`. */
export interface AssistantTool<Args = never> extends Tool<Args, ToolContext, ToolResult> {
  /** The reason to refuse a call even if the user would allow it. It is called before the user is asked. */
  findRefusal?(args: Args, context: ToolContext): ToolFailure | undefined;
  /** The text that is shown to the user before the call; if it is absent, the arguments are shown. */
  preview?(args: Args, context: ToolContext): Promise<string>;
  /** The kind of call to which `always` applies; if it is absent, all calls of the tool. */
  kindOf?(args: Args): string;
}

/** Functions and tools that the program gives to the assistant. Each is loaded when a tool first needs it. */
export interface ProgramServices {
  /** Read-only tools for the research project in the start folder; empty outside a project. */
  readonly tools: () => Promise<readonly AssistantTool[]>;
  /** The tools of research-ralph for a brief, chosen by its flags. */
  readonly briefTools: (flags: readonly string[]) => Promise<readonly AssistantTool[]>;
  readonly http: ToolContext["http"];
  readonly readDocument: ToolContext["readDocument"];
}

/** The options for the context of the tools. */
export interface ContextOptions extends Pick<
  ToolContext,
  "root" | "backupFolder" | "env" | "exec" | "memory" | "http" | "readDocument" | "ask"
> {
  /** The model's context window in tokens. */
  readonly window: number;
}

/** A sixth of the window at most, because an answer often needs several results. */
const maxResultTokensFor = (window: number): number => Math.min(10_000, Math.floor(window / 6));

/** The context that the tools of one session share. */
export const toolContext = ({ window, ...options }: ContextOptions): ToolContext => ({
  ...options,
  maxResultTokens: maxResultTokensFor(window),
  allowedKinds: new Set(),
  todos: [],
});
