import type { ConfigFlags } from "../../compose/config.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { findWork, kinds } from "../kinds/find-work.js";

interface BriefArguments {
  readonly folder: string | undefined;
  /** Only the flag for the agent has an effect: the brief depends on the agent's tools. */
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

/** Prints the exact text that the next agent would get. Starts no agent, asks no question and writes nothing. */
export async function briefCommand({ folder: argument, flags, json }: BriefArguments, io: Io): Promise<number> {
  const kindsWithBrief = kinds.filter(({ brief }) => brief !== undefined);
  const { kind, folder } = await findWork(io.cwd, argument, kindsWithBrief);
  const result = await kind.brief?.(folder, flags, io);
  if (result === undefined) return 0;
  if ("reason" in result) {
    if (json) io.stdout(`${JSON.stringify({ unit: null, reason: result.reason })}\n`);
    else say(io, `No agent would be started. ${result.reason}`);
    return 0;
  }
  const { iteration, unit, title, text, firstSteps } = result;
  const tokens = estimateTokens(text);
  if (json)
    io.stdout(
      `${JSON.stringify({ iteration, unit, title, tokens, ...(firstSteps.length === 0 ? {} : { first: firstSteps }), text })}\n`,
    );
  else {
    io.stdout(text);
    for (const sentence of firstSteps) say(io, sentence);
    say(io, `Iteration ${iteration}, ${unit}: about ${tokens} tokens.`);
  }
  return 0;
}
