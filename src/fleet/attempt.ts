import { join } from "node:path";
import { hasCode, messageOf } from "../engine/lib/errors.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import { resultName } from "../engine/lib/layout.js";
import { type Redact, redactValue } from "../engine/lib/redact.js";
import type { Agent, Failure } from "../engine/loop/types.js";
import { readResultText } from "../engine/storage/result-file.js";
import type { FleetItem } from "../engine/generated/fleet-item.js";
import { prepareBrief, type AcceptedJob } from "./jobs/job.js";
import { times } from "./keys.js";
import type { WorkerFolder } from "./leftovers.js";
import { boundTexts, makeSender } from "./talk.js";

/** What an attempt needs from its worker. */
export interface AttemptTools {
  /** The worker's own name. */
  readonly worker: string;
  readonly agent: Agent;
  readonly folder: WorkerFolder;
  /** Removes the worker's secrets from a text. */
  readonly redact: Redact;
  /** Sends items to the coordinator. Resolves when there is room for more. */
  readonly send: (items: readonly FleetItem[]) => Promise<void>;
  /** The worker's number for this attempt. */
  readonly number: number;
  /** The path of the file for the agent's output. */
  readonly transcript: string;
  /** It is aborted if the job is no longer wanted, or if another worker has it. Then nothing more is sent. */
  readonly signal: AbortSignal;
}

/** How an attempt ended. `said`: its end was sent. `full`: the disk is full, and nothing was started. */
export type AttemptEnd = "said" | "dropped" | "full" | Failure;

/** Runs the agent for a job once: creates the workspace, and sends the agent's events and its result. */
export async function runAttempt(takenJob: AcceptedJob, tools: AttemptTools): Promise<AttemptEnd> {
  const { agent, folder, redact, signal, number } = tools;
  let workspace: string | undefined;
  const sender = makeSender(tools.send, times.batchInterval);
  const sendItem = (item: FleetItem) => sender.add(boundTexts(redactValue(item, redact).value as FleetItem));
  let failure: Failure | undefined;
  try {
    let brief;
    try {
      workspace = folder.workspace(String(number));
      brief = await prepareBrief(workspace, takenJob, number);
    } catch (error) {
      if (hasCode(error, "ENOSPC", "EDQUOT")) return "full";
      failure = { kind: "crashed", message: `The worker could not make a workspace: ${messageOf(error)}.` };
      await sendItem({ type: "end", message: "", failure });
      await sender.finish();
      return failure;
    }
    const { worker, transcript } = tools;
    await sendItem({ type: "begun", worker, confinement: agent.confinement, transcript: `${worker}:${transcript}` });
    // It is sent at once, so that the coordinator knows the worker even if the worker dies soon.
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

/** Sends the content of the agent's result file. A link out of the workspace is not followed. */
async function sendResult(workspace: string, sendItem: (item: FleetItem) => Promise<void>): Promise<void> {
  const resultText = readResultText(join(workspace, resultName));
  if ("text" in resultText) await sendItem({ type: "result", text: resultText.text });
  else if (resultText.absent !== true)
    await sendItem({ type: "notice", message: `The result file was not sent: ${resultText.reason}.` });
}
