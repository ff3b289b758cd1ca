import { nearestCandidate } from "../lib/nearest.js";

/**
 * What a call of a tool can do: read files, change files, run programs, ask the network, change what is remembered. Who
 * calls decides by it whether a person is asked first.
 */
export type Does = "reads" | "writes" | "runs" | "network" | "remembers";

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** JSON Schema of one argument. Its description is paid for in every request of every agent that has the tool. */
export type Parameter = { readonly type: string; readonly [keyword: string]: Json };

/** JSON Schema of a tool's arguments. */
export interface Parameters<Name extends string = string> {
  readonly type: "object";
  readonly properties: Readonly<Partial<Record<Name, Parameter>>>;
  readonly required?: readonly Name[];
}

/** The arguments of a tool by their names, and which of them must be there. */
export const takes = <Name extends string>(
  properties: Readonly<Partial<Record<Name, Parameter>>>,
  required: readonly NoInfer<Name>[] = [],
): Parameters<Name> => ({ type: "object", properties, ...(required.length > 0 ? { required } : {}) });

/**
 * A tool, defined once for all its callers. `Args`: its arguments, checked against `parameters`; `Context`: all that
 * it can reach; `Answer`: what it answers with.
 */
export interface Tool<Args, Context, Answer> {
  readonly name: string;
  readonly description: string;
  readonly does: readonly Does[];
  readonly parameters: Parameters<keyof Args & string>;
  /** Answers or says why not; throws only for our own bugs. */
  run(given: Args, context: Context, signal: AbortSignal): Promise<Answer>;
}

/** What a call of a tool comes to, as a model reads it: what was found or done, or a code and one sentence. */
export type ToolResult = ({ readonly success: true } & Readonly<Record<string, unknown>>) | ToolFailure;

export interface ToolFailure extends Readonly<Record<string, unknown>> {
  readonly success: false;
  readonly code: string;
  /** One sentence. */
  readonly error: string;
}

export const toolFailure = (code: string, error: string): ToolFailure => ({ success: false, code, error });

/**
 * What a tool finds. `head` is in our words; `data` comes from outside, is fenced as such, and is cut at the bound of
 * an answer.
 */
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

export const wrongCall = (problem: string): Problem => ({ problem, wrongCall: true });

export const isProblem = (value: object): value is Problem => "problem" in value;

/** What somebody wrote, as one short line of a sentence. */
export const quoted = (text: string): string => {
  const line = text.replace(/[\p{C}\s]+/gu, " ").trim();
  return `'${line.length > 60 ? `${line.slice(0, 59)}…` : line}'`;
};

/** That there is no tool of this name, with the nearest one, or all. */
export function unknownTool(names: readonly string[], name: string): string {
  const nearestName = nearestCandidate(name.slice(0, 60), names);
  return `There is no tool ${quoted(name)}; ${nearestName === undefined ? `there are ${names.join(", ")}.` : `did you mean ${nearestName}?`}`;
}
