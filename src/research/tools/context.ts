import type { DocumentText } from "../../text/documents/text/document-text.js";
import type { ToolFindings, Problem, Tool } from "../../engine/tools/tool.js";
import type { Checkers } from "../derived/checker-rates.js";
import type { Paper } from "../generated/rrd.js";
import type { ContextFor, Source, Answer } from "../sources/shared/source.js";

/** The arguments of a call, checked against the tool's parameters. Empty values count as missing. */
export interface ToolArguments {
  readonly id?: string;
  readonly section?: string;
  readonly quote?: string;
  readonly query?: string;
  readonly from?: string;
  readonly most?: number;
  readonly answer?: unknown;
}

/** A passage of a paper, with the paper's key and the passage's position. */
export interface FoundPassage {
  readonly key: string;
  readonly locator?: string;
  readonly text: string;
}

/** Functions of tools that work on all papers of a project. */
export interface ProjectSearch {
  /** The passages nearest to these words, the best first. */
  passages(query: string, most: number): Promise<readonly FoundPassage[]>;
  /** Checks the quotes of an answer. Returns the statements that remain. */
  check(
    question: string,
    answer: unknown,
  ): Promise<{ readonly head: string; readonly lines: readonly string[] } | Problem>;
}

/** The services that tools may query, with rate limits and a cache. */
export interface Network {
  /** The sources to search, in this order. */
  readonly sources: readonly Source[];
  readonly contextFor: ContextFor;
}

/** Everything that tools can access: the papers and texts of one project, and the sources. Tools write nothing. */
export interface ToolContext {
  /** The paper of this context. It is used if a call names none, and it is then the only paper that can be read. */
  readonly paper?: string;
  papers(): Promise<readonly Paper[]>;
  /** How well each checker of sentences answered control sentences. */
  checkers(): Promise<Checkers>;
  /** The cached text of a paper; undefined if it is missing. */
  text(id: string): Promise<DocumentText | undefined>;
  /** Undefined if only one paper can be read. */
  readonly asked?: ProjectSearch;
  /** Undefined if the tools have no network access. */
  readonly network?: Network;
}

/** A read-only research tool. */
export type ResearchTool = Tool<ToolArguments, ToolContext, ToolFindings | Problem>;

/** Codex allows a tool one minute. */
const maxAnswerMs = 45_000;

/** The answer; or a failure after 45 s, or when the call is cancelled. */
export async function withTimeout<Value>(
  answer: Promise<Answer<Value>>,
  serviceName: string,
  signal: AbortSignal,
): Promise<Answer<Value>> {
  if (signal.aborted) return { status: "error", reason: "The call was cancelled." };
  let cleanUp: () => void = () => undefined;
  const failure = new Promise<Answer<Value>>((resolve) => {
    const cancelled = () => resolve({ status: "error", reason: "The call was cancelled." });
    const timer = setTimeout(
      () =>
        resolve({
          status: "rate_limited",
          reason: `${serviceName} has not answered in ${maxAnswerMs / 1000} s.`,
          transient: true,
        }),
      maxAnswerMs,
    );
    signal.addEventListener("abort", cancelled, { once: true });
    cleanUp = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancelled);
    };
  });
  try {
    return await Promise.race([answer, failure]);
  } finally {
    cleanUp();
  }
}
