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
import { bounded, makeSender } from "./talk.js";

/** The tools of an attempt. */
export interface AttemptTools {
  /** The worker's own name. */
  readonly worker: string;
  readonly agent: Agent;
  readonly folder: WorkerFolder;
  /** Removes the worker's secrets from a text. */
  readonly redact: Redact;
  /** Sends items to the coordinator. Resolves when there is room for more. */
  readonly send: (items: readonly FleetItem[]) => Promise<void>;
  /** The worker's number of this attempt, and the path of the file for the agent's output. */
  readonly number: number;
  readonly transcript: string;
  /** Aborted if the attempt is no longer wanted or no longer ours: then nothing more is sent. */
  readonly signal: AbortSignal;
}

/** How an attempt ended. `full`: the disk is full, and nothing was started. */
export type AttemptEnd = "said" | "dropped" | "full" | Failure;

/** Runs the agent of a job once: makes a workspace with the brief, and sends the agent's events and its result. */
export async function runAttempt(takenJob: TakenJob, tools: AttemptTools): Promise<AttemptEnd> {
  const { agent, folder, redact, signal, number } = tools;
  let workspace: string | undefined;
  const sender = makeSender(tools.send, times.batch);
  const sendItem = (item: FleetItem) => sender.say(bounded(redactValue(item, redact).value as FleetItem));
  let failure: Failure | undefined;
  try {
    let brief;
    try {
      workspace = folder.workspace(String(number));
      brief = await briefIn(workspace, takenJob, number);
    } catch (error) {
      if (hasCode(error, "ENOSPC", "EDQUOT")) return "full";
      failure = { kind: "crashed", message: `The worker could not make a workspace: ${messageOf(error)}.` };
      await sendItem({ type: "end", message: "", failure });
      await sender.finish();
      return failure;
    }
    const { worker, transcript } = tools;
    await sendItem({ type: "begun", worker, confinement: agent.confinement, transcript: `${worker}:${transcript}` });
    // Sent at once, so that the coordinator knows the worker even if it dies the next moment.
    await sender.finish();
    const { maxUsd, maxMs } = takenJob.job;
    const limits = withoutUndefined({ maxUsd, maxMs });
    for await (const event of agent.run(brief, { signal, ...limits })) {
      if (signal.aborted) continue;
      if (event.type === "end" && event.failure === undefined) await sendResult(workspace, sendItem);
      if (event.type === "end") failure = event.failure;
      await sendItem(event);
    }
    if (signal.aborted) return "dropped";
    await sender.finish();
    return failure ?? "said";
  } finally {
    sender.drop();
    if (workspace !== undefined) folder.remove(workspace);
  }
}

/** Sends the agent's result file. A link out of the workspace is not followed. */
async function sendResult(workspace: string, sendItem: (item: FleetItem) => Promise<void>): Promise<void> {
  const resultText = readResultText(join(workspace, resultName));
  if ("text" in resultText) await sendItem({ type: "result", text: resultText.text });
  else if (resultText.absent !== true)
    await sendItem({ type: "notice", message: `Left on the worker: ${resultText.reason}.` });
}
