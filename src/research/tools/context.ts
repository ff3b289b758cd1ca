import type { DocumentText } from "../../text/documents/text/document-text.js";
import type { Found, Problem, Tool } from "../../engine/tools/tool.js";
import type { Checkers } from "../derived/checker-rates.js";
import type { Paper } from "../generated/rrd.js";
import type { ContextFor, Source, Answer } from "../sources/shared/source.js";

/** The arguments of a call, checked against the tool's parameters; empty ones count as left out. */
export interface Given {
  readonly id?: string;
  readonly section?: string;
  readonly quote?: string;
  readonly query?: string;
  readonly from?: string;
  readonly most?: number;
  readonly answer?: unknown;
}

/** A passage of a paper, with what the paper is called and where in it the passage stands. */
export interface FoundPassage {
  readonly key: string;
  readonly locator?: string;
  readonly text: string;
}

/** What tools ask of all papers of a project at once. */
export interface AskedByTools {
  /** The passages nearest to these words, the best first. */
  passages(query: string, most: number): Promise<readonly FoundPassage[]>;
  /** What is left of an answer once its quotes were looked for. */
  check(
    question: string,
    answer: unknown,
  ): Promise<{ readonly head: string; readonly lines: readonly string[] } | Problem>;
}

/** The services that tools may ask: politely, cached, each failing for itself. */
export interface Network {
  /** Those that are searched, in this order. */
  readonly sources: readonly Source[];
  readonly contextFor: ContextFor;
}

/** All that the tools can reach: one project's papers and their texts, and the sources. They write nothing. */
export interface ToolContext {
  /** The paper that this context is about: meant where a call names none, and then the only one that can be read. */
  readonly paper?: string;
  papers(): Promise<readonly Paper[]>;
  /** How those who check sentences answered to controls. */
  checkers(): Promise<Checkers>;
  /** The text kept of a paper; undefined where none is. */
  text(id: string): Promise<DocumentText | undefined>;
  /** Undefined: only one paper can be read. */
  readonly asked?: AskedByTools;
  /** Undefined: nothing is asked outside. */
  readonly network?: Network;
}

/** A read-only tool of the research wing. */
export type ResearchTool = Tool<Given, ToolContext, Found | Problem>;

/** Codex gives a tool a minute. In milliseconds. */
const maxAnswerTime = 45_000;

/** An answer; or that it did not come within 45 s, or that nobody waits for it any more. */
export async function inTime<Value>(
  answer: Promise<Answer<Value>>,
  who: string,
  signal: AbortSignal,
): Promise<Answer<Value>> {
  if (signal.aborted) return { status: "error", reason: "The call was cancelled." };
  let end: () => void = () => undefined;
  const given = new Promise<Answer<Value>>((resolve) => {
    const cancelled = () => resolve({ status: "error", reason: "The call was cancelled." });
    const late = setTimeout(
      () =>
        resolve({
          status: "rate_limited",
          reason: `${who} has not answered in ${maxAnswerTime / 1000} s.`,
          transient: true,
        }),
      maxAnswerTime,
    );
    signal.addEventListener("abort", cancelled, { once: true });
    end = () => {
      clearTimeout(late);
      signal.removeEventListener("abort", cancelled);
    };
  });
  try {
    return await Promise.race([answer, given]);
  } finally {
    end();
  }
}
