import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { Reader } from "../engine/agents/definition.js";
import { readUnknownAgent } from "../engine/agents/registry.js";
import type { LedgerLine } from "../engine/generated/ledger.js";
import { briefOf, lockFile, transcriptsFolder } from "../engine/lib/layout.js";
import type { Redact } from "../engine/lib/redact.js";
import { oneLine } from "../engine/lib/sanitise.js";
import type { AgentEvent, Usage } from "../engine/loop/types.js";
import { readRegularText } from "../engine/storage/regular-file.js";

/** A text, tool call or notice of an agent. */
export interface AgentOutput {
  readonly kind: "text" | "tool" | "notice";
  readonly text: string;
}

/** A working agent, from its transcript. */
export interface AgentAtWork {
  readonly iteration: number;
  /** The unit of its brief: a paper's id, "report", "discovery-3". Undefined if the brief does not name it. */
  readonly unit?: string;
  /** The time of its brief, in milliseconds since the epoch. */
  readonly since: number;
  readonly model?: string;
  readonly usage?: Usage;
  readonly cost_usd?: number;
  /** The last outputs of the agent, newest last. */
  readonly outputs: readonly AgentOutput[];
  /** The number of outputs before those in `outputs`. */
  readonly earlierCount: number;
}

/** Maximum number of outputs that are kept of one agent. */
const maxOutputs = 60;
const maxTextChars = 1200;
/** Maximum bytes of a transcript that are read at once. The next call continues there. */
const maxReadBytes = 4_000_000;
/** Maximum characters of an incomplete line that are kept. */
const maxLineChars = 2_000_000;

/** The state of reading one transcript. */
interface Progress {
  offset: number;
  incompleteLine: string;
  readonly decoder: StringDecoder;
  reader: Reader;
  outputs: AgentOutput[];
  count: number;
  usage: Extract<AgentEvent, { type: "usage" }> | undefined;
  readonly unit: string | undefined;
  readonly since: number;
}

/**
 * Returns the agents that are working: those without a line in the ledger whose brief is newer than the start of the
 * run. Do not call it again before its last call has ended.
 */
export type ReadAgents = (ledger: readonly LedgerLine[]) => Promise<readonly AgentAtWork[]>;

/**
 * Follows the agents of a project through the transcripts that the run writes. The transcripts contain no secrets, but
 * the shown texts are redacted once more.
 */
export function followAgents(folder: string, redact: Redact): ReadAgents {
  const progressByIteration = new Map<number, Progress>();

  return async function atWork(ledger) {
    const lockStats = await stat(lockFile(folder)).catch(() => undefined);
    const names = lockStats === undefined ? [] : await readdir(transcriptsFolder(folder)).catch(() => []);
    const endedIterations = new Set(ledger.map(({ iteration }) => iteration));
    const openIterations = names
      .flatMap((name) => /^(\d{1,9})\.brief\.md$/.exec(name)?.[1] ?? [])
      .map(Number)
      .filter((iteration) => !endedIterations.has(iteration))
      .sort((a, b) => a - b);
    for (const iteration of progressByIteration.keys())
      if (!openIterations.includes(iteration)) progressByIteration.delete(iteration);
    const agents: AgentAtWork[] = [];
    for (const iteration of openIterations) {
      const path = join(transcriptsFolder(folder), `${iteration}.jsonl`);
      const briefStats = await stat(briefOf(path)).catch(() => undefined);
      // A killed run leaves transcripts without a line in the ledger.
      if (briefStats === undefined || briefStats.mtimeMs < (lockStats?.mtimeMs ?? 0) - 2000) continue;
      // A newer brief belongs to another agent: a fallback agent started the iteration again.
      const knownProgress = progressByIteration.get(iteration);
      const isSameBrief = knownProgress !== undefined && knownProgress.since === briefStats.mtimeMs;
      const progress = isSameBrief ? knownProgress : await begin(briefOf(path), briefStats.mtimeMs);
      progressByIteration.set(iteration, progress);
      await readNew(path, progress);
      agents.push(agentAtWork(iteration, progress));
    }
    return agents;
  };

  async function begin(brief: string, since: number): Promise<Progress> {
    const text = await readRegularText(brief).catch(() => "");
    const unitIndex = text.indexOf("<unit>");
    const unit =
      unitIndex === -1 ? undefined : /^ "unit": "([^"\\]{1,200})"/m.exec(text.slice(unitIndex, unitIndex + 2000))?.[1];
    const decoder = new StringDecoder("utf8");
    return {
      offset: 0,
      incompleteLine: "",
      decoder,
      reader: readUnknownAgent(),
      outputs: [],
      count: 0,
      usage: undefined,
      unit,
      since,
    };
  }

  async function readNew(path: string, progress: Progress): Promise<void> {
    const file = await open(path, "r").catch(() => undefined);
    if (file === undefined) return;
    try {
      const { size } = await file.stat();
      // If the file is shorter than before, it was written again.
      if (size < progress.offset)
        Object.assign(progress, { offset: 0, incompleteLine: "", reader: readUnknownAgent(), outputs: [], count: 0 });
      const buffer = Buffer.alloc(Math.min(maxReadBytes, size - progress.offset));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, progress.offset);
      progress.offset += bytesRead;
      const text = progress.incompleteLine + progress.decoder.write(buffer.subarray(0, bytesRead));
      const lines = text.split("\n");
      progress.incompleteLine = (lines.pop() ?? "").slice(0, maxLineChars);
      for (const line of lines) readLine(progress, line);
    } catch {
      // The file is read again after its next change.
    } finally {
      await file.close();
    }
  }

  function readLine(progress: Progress, line: string): void {
    for (const event of progress.reader.line(line)) addEvent(progress, event);
  }

  function addEvent(progress: Progress, event: AgentEvent): void {
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
    progress.outputs.push({ kind: event.type, text: oneLine(redact(text)).slice(0, maxTextChars) });
    if (progress.outputs.length > maxOutputs) progress.outputs.shift();
  }
}

function agentAtWork(iteration: number, { unit, since, usage, outputs, count }: Progress): AgentAtWork {
  return {
    iteration,
    since,
    outputs: [...outputs],
    earlierCount: count - outputs.length,
    unit,
    usage: usage?.usage,
    ...(usage?.model === undefined ? {} : { model: usage.model }),
    ...(usage?.cost_usd === undefined ? {} : { cost_usd: usage.cost_usd }),
  };
}
