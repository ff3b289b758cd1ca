/** JSON Schema of one argument. Its description is paid for in every request of every agent that has the tool. */
export type Parameter = { readonly type: "string" | "integer"; readonly description?: string };

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

/**
 * A tool, defined once for the command line and for MCP. `Args`: its arguments, checked against `parameters`;
 * `Context`: all that it can reach.
 */
export interface Tool<Args, Context> {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Partial<Record<keyof Args & string, Parameter>>>;
  readonly required: readonly (keyof Args & string)[];
  /** Answers or says why not; throws only for our own bugs. */
  run(given: Args, context: Context, signal: AbortSignal): Promise<Found | Problem>;
}

export const wrongCall = (problem: string): Problem => ({ problem, wrongCall: true });

export const isProblem = (value: object): value is Problem => "problem" in value;

/** What somebody wrote, as one short line of a sentence. */
export const quoted = (text: string): string => {
  const line = text.replace(/[\p{C}\s]+/gu, " ").trim();
  return `'${line.length > 60 ? `${line.slice(0, 59)}…` : line}'`;
};
