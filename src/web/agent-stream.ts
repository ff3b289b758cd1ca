import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { Reader } from "../engine/agents/definition.js";
import { readUnknown } from "../engine/agents/registry.js";
import type { LedgerLine } from "../engine/generated/ledger.js";
import { briefOf, lockFile, transcriptsFolder } from "../engine/lib/layout.js";
import type { Redact } from "../engine/lib/redact.js";
import { oneLine } from "../engine/lib/sanitise.js";
import type { AgentEvent, Usage } from "../engine/loop/types.js";
import { readRegularText } from "../engine/storage/regular-file.js";

/** One thing that an agent said or did. */
export interface Said {
  readonly kind: "text" | "tool" | "notice";
  readonly text: string;
}

/** An agent at work, as its transcript shows it. */
export interface AgentAtWork {
  readonly iteration: number;
  /** The unit of its brief: a paper's id, "report", "discovery-3". Undefined where the brief does not say. */
  readonly unit?: string;
  /** When it got its brief, milliseconds since the epoch. */
  readonly since: number;
  readonly model?: string;
  readonly usage?: Usage;
  readonly cost_usd?: number;
  /** The last things that it said and did, the newest last. */
  readonly said: readonly Said[];
  /** How many there were before these. */
  readonly earlier: number;
}

/** So many are kept of one agent; a person reads the last few. */
const maxSaid = 60;
const maxText = 1200;
/** A transcript is read on from where it was left, so much at once. */
const maxRead = 4_000_000;
/** A line without an end, however long, is read as far as this. */
const maxLine = 2_000_000;

/** What was understood of one transcript so far. */
interface Progress {
  offset: number;
  rest: string;
  readonly decoder: StringDecoder;
  reader: Reader;
  said: Said[];
  count: number;
  usage: Extract<AgentEvent, { type: "usage" }> | undefined;
  readonly unit: string | undefined;
  readonly since: number;
}

/** The agents at work: those without a line in the ledger whose brief is younger than the run. Asked one at a time. */
export type FollowedAgents = (ledger: readonly LedgerLine[]) => Promise<readonly AgentAtWork[]>;

/**
 * Follows the agents that work on a project, through the transcripts that the run writes. The transcripts hold no
 * secrets; what is shown is looked through once more.
 */
export function followAgents(folder: string, redact: Redact): FollowedAgents {
  const known = new Map<number, Progress>();

  return async function atWork(ledger) {
    const started = await stat(lockFile(folder)).catch(() => undefined);
    const names = started === undefined ? [] : await readdir(transcriptsFolder(folder)).catch(() => []);
    const ended = new Set(ledger.map(({ iteration }) => iteration));
    const open = names
      .flatMap((name) => /^(\d{1,9})\.brief\.md$/.exec(name)?.[1] ?? [])
      .map(Number)
      .filter((iteration) => !ended.has(iteration))
      .sort((a, b) => a - b);
    for (const iteration of known.keys()) if (!open.includes(iteration)) known.delete(iteration);
    const agents: AgentAtWork[] = [];
    for (const iteration of open) {
      const path = join(transcriptsFolder(folder), `${iteration}.jsonl`);
      const brief = await stat(briefOf(path)).catch(() => undefined);
      // A killed run leaves transcripts without a line in the ledger.
      if (brief === undefined || brief.mtimeMs < (started?.mtimeMs ?? 0) - 2000) continue;
      // A brief that is younger is another agent's: a fallback began the iteration again.
      const before = known.get(iteration);
      const isSame = before !== undefined && before.since === brief.mtimeMs;
      const progress = isSame ? before : await begin(briefOf(path), brief.mtimeMs);
      known.set(iteration, progress);
      await readOn(path, progress);
      agents.push(shown(iteration, progress));
    }
    return agents;
  };

  async function begin(brief: string, since: number): Promise<Progress> {
    const text = await readRegularText(brief).catch(() => "");
    const at = text.indexOf("<unit>");
    const unit = at === -1 ? undefined : /^ "unit": "([^"\\]{1,200})"/m.exec(text.slice(at, at + 2000))?.[1];
    const decoder = new StringDecoder("utf8");
    return { offset: 0, rest: "", decoder, reader: readUnknown(), said: [], count: 0, usage: undefined, unit, since };
  }

  async function readOn(path: string, progress: Progress): Promise<void> {
    const file = await open(path, "r").catch(() => undefined);
    if (file === undefined) return;
    try {
      const { size } = await file.stat();
      // The program that made it shorter began it again.
      if (size < progress.offset)
        Object.assign(progress, { offset: 0, rest: "", reader: readUnknown(), said: [], count: 0 });
      const buffer = Buffer.alloc(Math.min(maxRead, size - progress.offset));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, progress.offset);
      progress.offset += bytesRead;
      const text = progress.rest + progress.decoder.write(buffer.subarray(0, bytesRead));
      const lines = text.split("\n");
      progress.rest = (lines.pop() ?? "").slice(0, maxLine);
      for (const line of lines) take(progress, line);
    } catch {
      // It is looked at again with the next change.
    } finally {
      await file.close();
    }
  }

  function take(progress: Progress, line: string): void {
    for (const event of progress.reader.line(line)) note(progress, event);
  }

  function note(progress: Progress, event: AgentEvent): void {
    if (event.type === "usage") progress.usage = event;
    const text =
      event.type === "text"
        ? event.text
        : event.type === "tool"
          ? `${event.name} ${event.detail}`
          : event.type === "notice"
            ? event.message
            : "";
    if (text.trim() === "" || event.type === "usage" || event.type === "end" || event.type === "begun") return;
    progress.count += 1;
    progress.said.push({ kind: event.type, text: oneLine(redact(text)).slice(0, maxText) });
    if (progress.said.length > maxSaid) progress.said.shift();
  }
}

function shown(iteration: number, { unit, since, usage, said, count }: Progress): AgentAtWork {
  return {
    iteration,
    since,
    said: [...said],
    earlier: count - said.length,
    unit,
    usage: usage?.usage,
    ...(usage?.model === undefined ? {} : { model: usage.model }),
    ...(usage?.cost_usd === undefined ? {} : { cost_usd: usage.cost_usd }),
  };
}
