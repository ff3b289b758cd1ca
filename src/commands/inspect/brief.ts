import type { ConfigFlags } from "../../compose/config.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { findWork, kinds } from "../kinds/find-work.js";

interface BriefArguments {
  readonly folder: string | undefined;
  /** Only the agent counts: what it takes tools for stands in its brief. */
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

/** Prints what the next agent would be given, to the letter. Starts no agent, asks nobody and writes nothing. */
export async function briefCommand({ folder: argument, flags, json }: BriefArguments, io: Io): Promise<number> {
  const offering = kinds.filter(({ brief }) => brief !== undefined);
  const { kind, folder } = await findWork(io.cwd, argument, offering);
  const next = await kind.brief?.(folder, flags, io);
  if (next === undefined) return 0;
  if ("reason" in next) {
    if (json) io.stdout(`${JSON.stringify({ unit: null, reason: next.reason })}\n`);
    else say(io, `No agent would be started. ${next.reason}`);
    return 0;
  }
  const { iteration, unit, title, text, first } = next;
  const tokens = estimateTokens(text);
  if (json)
    io.stdout(
      `${JSON.stringify({ iteration, unit, title, tokens, ...(first.length === 0 ? {} : { first }), text })}\n`,
    );
  else {
    io.stdout(text);
    for (const sentence of first) say(io, sentence);
    say(io, `Iteration ${iteration}, ${unit}: about ${tokens} tokens.`);
  }
  return 0;
}
