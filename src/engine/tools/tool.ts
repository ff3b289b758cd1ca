import { nearestCandidate } from "../lib/nearest.js";

/**
 * What a tool can do: read files, change files, run programs, use the network, change the memory. The caller decides by
 * this whether to ask the user first.
 */
export type Effect = "reads" | "writes" | "runs" | "network" | "remembers";

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/**
 * JSON Schema of one argument. Its description is part of every request of every agent with this tool, so it costs
 * tokens.
 */
export type Parameter = { readonly type: string; readonly [keyword: string]: Json };

/** JSON Schema of a tool's arguments. */
export interface Parameters<Name extends string = string> {
  readonly type: "object";
  readonly properties: Readonly<Partial<Record<Name, Parameter>>>;
  readonly required?: readonly Name[];
}

/** The schema of a tool's arguments, with the required ones. */
export const parametersOf = <Name extends string>(
  properties: Readonly<Partial<Record<Name, Parameter>>>,
  required: readonly NoInfer<Name>[] = [],
): Parameters<Name> => ({ type: "object", properties, ...(required.length > 0 ? { required } : {}) });

/**
 * A tool, defined once for all callers. `Args`: its arguments, validated by `parameters`; `Context`: everything that it
 * can use; `Answer`: its result.
 */
export interface Tool<Args, Context, Answer> {
  readonly name: string;
  readonly description: string;
  readonly does: readonly Effect[];
  readonly parameters: Parameters<keyof Args & string>;
  /** Returns the result, or the reason for a failure; throws only for a bug in this program. */
  run(given: Args, context: Context, signal: AbortSignal): Promise<Answer>;
}

/** The result of a call as a model reads it: data, or a code and one sentence. */
export type ToolResult = ({ readonly success: true } & Readonly<Record<string, unknown>>) | ToolFailure;

export interface ToolFailure extends Readonly<Record<string, unknown>> {
  readonly success: false;
  readonly code: string;
  /** One sentence. */
  readonly error: string;
}

export const toolFailure = (code: string, error: string): ToolFailure => ({ success: false, code, error });

/**
 * The result of a search. `head` is a text of this program. `data` comes from outside; it is marked as such and
 * truncated to the maximum length of an answer.
 */
export interface ToolFindings {
  readonly head: string;
  readonly data?: string;
  /** True: no service that was asked has answered. */
  readonly unanswered?: true;
}

/** The reason why there is no answer, and what to do, in one sentence. */
export interface Problem {
  readonly problem: string;
  /** True: the call is wrong; a corrected call can succeed. */
  readonly wrongCall?: true;
}

export const wrongCall = (problem: string): Problem => ({ problem, wrongCall: true });

export const isProblem = (value: object): value is Problem => "problem" in value;

/** A text of a user or model as one short line in quotes, for a sentence. */
export const quoted = (text: string): string => {
  const line = text.replace(/[\p{C}\s]+/gu, " ").trim();
  return `'${line.length > 60 ? `${line.slice(0, 59)}…` : line}'`;
};

/** The message for an unknown tool, with the nearest name or a list of all. */
export function unknownTool(names: readonly string[], name: string): string {
  const nearestName = nearestCandidate(name.slice(0, 60), names);
  return `There is no tool ${quoted(name)}; ${nearestName === undefined ? `there are ${names.join(", ")}.` : `did you mean ${nearestName}?`}`;
}
