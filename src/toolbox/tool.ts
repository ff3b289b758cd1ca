import type { Paper } from "../generated/rrd.js";
import type { ContextFor, Source } from "../sources/source.js";
import type { PaperText } from "../sources/text.js";

/** The arguments of a call, checked against the tool's parameters; empty ones count as left out. */
export interface Given {
  readonly id?: string;
  readonly section?: string;
  readonly quote?: string;
  readonly query?: string;
  readonly from?: string;
  readonly most?: number;
}

/** JSON Schema of one argument. Its description is paid for in every request of every agent that has the tool. */
export type Parameter = { readonly type: "string" | "integer"; readonly description?: string };

/** What a tool finds. `head` is in our words; `data` comes from outside, is fenced as such, and is cut at the bound of an answer. */
export interface Found {
  readonly head: string;
  readonly data?: string;
  /** Nobody answered of all who were asked. */
  readonly unanswered?: true;
}

/** One sentence that says why there is no answer and what to do instead. */
export interface Problem {
  readonly problem: string;
  /** The call itself is wrong: another one would be answered. */
  readonly wrongCall?: true;
}

/** A read-only tool, defined once for the command line and for MCP. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Partial<Record<keyof Given, Parameter>>>;
  readonly required: readonly (keyof Given)[];
  /** Answers or says why not; throws only for our own bugs. */
  run(given: Given, shelf: Shelf, signal: AbortSignal): Promise<Found | Problem>;
}

/** The services that tools may ask: politely, cached, each failing for itself. */
export interface Network {
  /** Those that are searched, in this order. */
  readonly sources: readonly Source[];
  readonly contextFor: ContextFor;
}

/** All that the tools can reach: one research's papers and their texts, and the sources. They write nothing. */
export interface Shelf {
  /** The paper that this shelf is about: meant where a call names none, and then the only one that can be read. */
  readonly paper?: string;
  papers(): Promise<readonly Paper[]>;
  /** The text kept of a paper; undefined where none is. */
  text(id: string): Promise<PaperText | undefined>;
  /** Undefined: nothing is asked outside. */
  readonly network?: Network;
}

export const wrongCall = (problem: string): Problem => ({ problem, wrongCall: true });

export const isProblem = (value: object): value is Problem => "problem" in value;

/** What somebody wrote, as one short line of a sentence. */
export const quoted = (text: string): string => {
  const line = text.replace(/[\p{C}\s]+/gu, " ").trim();
  return `'${line.length > 60 ? `${line.slice(0, 59)}…` : line}'`;
};
