import { ExpectedError } from "../lib/errors.js";
import { nearestCandidate } from "../lib/nearest.js";

/**
 * An effect of a tool: it reads files, changes files, runs programs, uses the network, or changes the memory. It
 * decides whether the user is asked before a call.
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

/** The JSON Schema of a tool's arguments. `required`: the names of arguments that must not be missing. */
export const parametersOf = <Name extends string>(
  properties: Readonly<Partial<Record<Name, Parameter>>>,
  required: readonly NoInfer<Name>[] = [],
): Parameters<Name> => ({ type: "object", properties, ...(required.length > 0 ? { required } : {}) });

/**
 * A tool, defined once for all callers. `Args`: its arguments, validated by `parameters`; `Context`: the services that
 * it uses; `Answer`: its result.
 */
export interface Tool<Args, Context, Answer> {
  readonly name: string;
  readonly description: string;
  readonly effects: readonly Effect[];
  readonly parameters: Parameters<keyof Args & string>;
  /** Returns the result, or the reason for a failure; throws only for a bug in this program. */
  run(given: Args, context: Context, signal: AbortSignal): Promise<Answer>;
}

/** The result of a call as a model reads it: data, or the code of an error and one sentence. */
export type ToolResult = ({ readonly success: true } & Readonly<Record<string, unknown>>) | ToolFailure;

export interface ToolFailure extends Readonly<Record<string, unknown>> {
  readonly success: false;
  readonly code: string;
  /** One sentence. */
  readonly error: string;
}

export const toolFailure = (code: string, error: string): ToolFailure => ({ success: false, code, error });

/**
 * The result of a search. `head`: a text of this program. `data`: a text from outside, which will be marked as such and
 * truncated to the maximum length of an answer.
 */
export interface ToolFindings {
  readonly head: string;
  readonly data?: string;
  /** True: no service that was asked has answered. */
  readonly unanswered?: true;
}

/** One sentence that says why there is no answer, and what to do. */
export interface Problem {
  readonly problem: string;
  /** True: the call is wrong; a corrected call can succeed. */
  readonly wrongCall?: true;
}

export const wrongCall = (problem: string): Problem => ({ problem, wrongCall: true });

export const isProblem = (value: object): value is Problem => "problem" in value;

/** Turns an expected error, such as an invalid state file, into a problem: the caller may read its message. */
export function asProblem(error: unknown): Problem {
  if (error instanceof ExpectedError) return { problem: error.message };
  throw error;
}

/** A text of a user or a model as one short line in quotes, for use in a sentence. */
export const inQuotes = (text: string): string => {
  const line = text.replace(/[\p{C}\s]+/gu, " ").trim();
  return `'${line.length > 60 ? `${line.slice(0, 59)}…` : line}'`;
};

/** The message for an unknown tool, with the most similar name or a list of all names. */
export function unknownToolMessage(names: readonly string[], name: string): string {
  const nearestName = nearestCandidate(name.slice(0, 60), names);
  return `There is no tool ${inQuotes(name)}; ${nearestName === undefined ? `there are ${names.join(", ")}.` : `did you mean ${nearestName}?`}`;
}
