import { join } from "node:path";
import { hasCode, messageOf } from "../engine/lib/errors.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import { resultName } from "../engine/lib/layout.js";
import { type Redact, redactValue } from "../engine/lib/redact.js";
import type { Agent, Failure } from "../engine/loop/types.js";
import { readResultText } from "../engine/storage/result-file.js";
import type { FleetItem } from "../engine/generated/fleet-item.js";
import { briefIn, type TakenJob } from "./jobs/job.js";
import { times } from "./keys.js";
import type { WorkerFolder } from "./leftovers.js";
import { bounded, talkerOf } from "./talk.js";

/** What an attempt is done with. */
export interface AttemptTools {
  /** The worker's own name. */
  readonly worker: string;
  readonly agent: Agent;
  readonly folder: WorkerFolder;
  /** Takes the worker's secrets out of a text. */
  readonly redact: Redact;
  /** Says something to the coordinator; resolves once there is room for more. */
  readonly send: (items: readonly FleetItem[]) => Promise<void>;
  /** The worker's own number of this attempt, and where what the agent prints is kept. */
  readonly number: number;
  readonly transcript: string;
  /** Aborted where the attempt is not wanted, or not ours, any more: then nothing more is said. */
  readonly signal: AbortSignal;
}

/** How an attempt ended. `full`: there is no room on the disk, and nothing was begun. */
export type AttemptEnd = "said" | "dropped" | "full" | Failure;

/** Runs the agent of a job once: a workspace, the brief in it, what the agent says, and the result that it left. */
export async function attemptJob(taken: TakenJob, tools: AttemptTools): Promise<AttemptEnd> {
  const { agent, folder, redact, signal, number } = tools;
  let workspace: string | undefined;
  const talker = talkerOf(tools.send, times.batch);
  const say = (item: FleetItem) => talker.say(bounded(redactValue(item, redact).value as FleetItem));
  let failure: Failure | undefined;
  try {
    let brief;
    try {
      workspace = folder.workspace(String(number));
      brief = await briefIn(workspace, taken, number);
    } catch (error) {
      if (hasCode(error, "ENOSPC", "EDQUOT")) return "full";
      failure = { kind: "crashed", message: `The worker could not make a workspace: ${messageOf(error)}.` };
      await say({ type: "end", message: "", failure });
      await talker.finish();
      return failure;
    }
    const { worker, transcript } = tools;
    await say({ type: "begun", worker, confinement: agent.confinement, transcript: `${worker}:${transcript}` });
    // At once: who has it is known even if this worker dies the next moment.
    await talker.finish();
    const { maxUsd, maxMs } = taken.job;
    const limits = withoutUndefined({ maxUsd, maxMs });
    for await (const event of agent.run(brief, { signal, ...limits })) {
      if (signal.aborted) continue;
      if (event.type === "end" && event.failure === undefined) await sayResult(workspace, say);
      if (event.type === "end") failure = event.failure;
      await say(event);
    }
    if (signal.aborted) return "dropped";
    await talker.finish();
    return failure ?? "said";
  } finally {
    talker.drop();
    if (workspace !== undefined) folder.remove(workspace);
  }
}

/** The file that the agent left, as the judge of results would read it: a link out of the workspace brings nothing. */
async function sayResult(workspace: string, say: (item: FleetItem) => Promise<void>): Promise<void> {
  const read = readResultText(join(workspace, resultName));
  if ("text" in read) await say({ type: "result", text: read.text });
  else if (read.absent !== true) await say({ type: "notice", message: `Left on the worker: ${read.reason}.` });
}
