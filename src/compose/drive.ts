import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import {
  type Agents,
  crewFor,
  isUnconfined,
  type RoleNames,
  redactorFor,
  settingsFor,
  summariserFor,
  namesIn,
  insecureNotice,
  readyFleet,
  type RunSettings,
  summarisingAgent,
} from "./agents.js";
import { housed, sandboxFor, type SandboxWish } from "./sandbox.js";
import type { ResolvedConfig } from "./config.js";
import { extensionsIn } from "./extensions/extensions.js";
import { timeoutSignal, timeoutReason } from "../engine/lib/clock.js";
import { isRemote } from "../engine/agents/registry.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { inboxFolder, pauseName, stopName } from "../engine/lib/layout.js";
import type { Redact } from "../engine/lib/redact.js";
import { stopWhenStuck } from "../engine/loop/stop-conditions/stuck.js";
import { unlimitedAgents } from "../engine/loop/stop-conditions/budget.js";
import { withHistory } from "../engine/loop/history/keep-history.js";
import { rulesFor } from "../engine/loop/rules-of-run.js";
import { runLoop } from "../engine/loop/run-loop.js";
import type { Tell, Unit, Verdict, Words, Workflow } from "../engine/loop/types.js";
import { withAddedBriefs } from "../engine/points/adding-to-briefs.js";
import { type Participant, type Points, pointsOf } from "../engine/points/points.js";
import { shellHooks } from "../engine/points/shell-hooks.js";
import type { Io } from "../engine/ui/io.js";
import { researchWords } from "../research/project-files/words.js";
import { listenForSignals } from "../engine/ui/signals.js";
import { sinkFor } from "../engine/ui/sink-for.js";
import type { Questions } from "../engine/ui/terminal/questions.js";
import { recordRunningUnits } from "../engine/storage/running-units.js";
import { createTell } from "../engine/ui/event-delivery.js";

/** How a run is driven. */
interface Drive {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose?: boolean;
  /** Maximum number of iterations of this run. */
  readonly iterations: number;
  /** The project's: its PAUSE and STOP files count, hooks are told of it, and it keeps the transcripts. */
  readonly folder?: string;
  /** The folder that agents work on, where it is another. */
  readonly work?: string;
  /** The agents work on the folder itself. */
  readonly classic?: boolean;
  /** The agents change the files of a folder. */
  readonly changes?: boolean;
  /** What may wait for a person's yes during the run. */
  readonly questions?: Questions;
  /** Of the work; those of a research project where it is absent. */
  readonly words?: Words;
  /** Iterations in a row without an accepted result at which the run ends. */
  readonly maxWithoutResult?: number;
  /** Roles that have agents of their own. */
  readonly roles?: RoleNames;
  /** Called where the run's programs start on the host, before any does. Throws where they may not. */
  readonly onHost?: () => Promise<void>;
  /** What the agents' sandbox has to be; absent: as a project of papers needs it. */
  readonly sandbox?: SandboxWish;
}

/** What is made once for a run and handed down. */
export interface Run {
  readonly agents: Agents;
  /** Those of roles too. */
  readonly everyone: Agents;
  /** What the agents were made with. */
  readonly settings: RunSettings;
  readonly tell: Tell;
  readonly points: Points;
  /** Takes the user's secrets out of a text. */
  readonly redact: Redact;
  /** Aborted once a person wants the run to end at once. */
  readonly abort: AbortSignal;
  /** Aborted once nothing more is to be prepared: the run ends with the iterations under way, or at once. */
  readonly ending: AbortSignal;
}

/** Runs a workflow to its verdict while a person or a program watches, within limits, and with a way out by signals. */
export async function drive<State, U extends Unit, P, C>(
  config: ResolvedConfig,
  io: Io,
  how: Drive,
  open: (run: Run) => Promise<Workflow<State, U, P, C>>,
): Promise<Verdict> {
  const { folder, iterations, json, quiet, verbose = false, words = researchWords, maxWithoutResult } = how;
  const { maxMs, patienceMs, budget, hooks: configured } = config;
  const { clock } = io;
  const outside = settingsFor(config, io, how);
  const housing = await sandboxFor(config, io, outside, namesIn(config, how.roles), how.sandbox);
  if (housing.sandbox === undefined) await how.onHost?.();
  const settings = housed(outside, housing);
  const { agents, roles, everyone } = crewFor(config, settings, how.roles);
  const summarises = summarisingAgent(config, io, settings);
  /** However the run ends: what agents hold on other machines is given back. */
  const closeAgents = () =>
    Promise.all([...everyone, ...(summarises === undefined ? [] : [summarises])].map((agent) => agent.close?.()));
  const redact = redactorFor(config, io);
  const signals = listenForSignals(io);
  const { finish } = signals;
  const timeUp = new AbortController();
  const abort = AbortSignal.any([signals.abort, timeUp.signal]);
  const about = { cwd: io.cwd, env: io.env, redact, folder };
  const participants: Participant[] = [shellHooks({ ...about, hooks: configured, signal: abort })];
  const points = pointsOf(() => participants);
  const names = agents.map(({ name }) => name).join(", ");
  const shown = sinkFor(io, {
    json,
    quiet,
    verbose,
    agent: names,
    finish,
    questions: how.questions,
    maxIterations: Number.isFinite(iterations) ? iterations : undefined,
    name: folder === undefined ? undefined : basename(folder),
  });
  const traces = config.otel
    ? (await import("../engine/traces/traces.js")).withTraces(shown, io.env, (event) => void tell(event))
    : undefined;
  const sink = traces ?? shown;
  const telling = createTell({ sink, points, redact, now: clock.now });
  const tell = folder === undefined ? telling : recordRunningUnits(folder, telling, clock.now);
  const stopWatching = folder === undefined ? () => undefined : tellOfMessages(folder, tell);
  let limit: ReturnType<typeof timeoutSignal> | undefined;
  try {
    const ending = AbortSignal.any([finish, abort]);
    const everyName = namesIn(config, how.roles);
    const jobs = await readyFleet(everyName, config, settings);
    for (const notice of [housing.notice, everyName.some(isRemote) ? insecureNotice(config) : undefined])
      if (notice !== undefined) void tell({ type: "notice", ...notice });
    for (const message of unlimitedAgents(budget, everyone)) void tell({ type: "notice", level: "warning", message });
    participants.push(...(await extensionsIn(config, io, { ...foldersOf(how), tell, redact, signal: abort })));
    const workflow = await open({ agents, everyone, settings, tell, points, redact, abort: signals.abort, ending });
    if (maxMs !== undefined) {
      // A little late, so that the stop condition then sees that the time is up.
      limit = timeoutSignal(maxMs + 100, clock);
      limit.signal.addEventListener("abort", () => timeUp.abort(timeoutReason));
    }
    const rules = rulesFor({
      agents,
      roles,
      iterations,
      budget,
      patienceMs,
      words,
      more: [settings.fleet.stopCondition, stopWhenStuck(words)],
      folder,
      maxMs,
      maxWithoutResult,
    });
    const remembering = withHistory(
      withAddedBriefs(workflow, points, tell),
      summariserFor(config, io, { tell, redact, signal: abort, house: settings }),
    );
    return await runLoop(remembering, agents[0], {
      ...rules,
      tell,
      jobs: everyone.some(isUnconfined) ? 1 : jobs,
      clock,
      finish,
      abort,
    });
  } catch (error) {
    // What can't be opened because a person ends the run is not a failure: a document that was being read, say.
    if (!(error instanceof ExpectedError) || !finish.aborted) throw error;
    return { verdict: "interrupted", reason: "The run was interrupted before it began.", signal: finish.reason };
  } finally {
    limit?.clear();
    stopWatching();
    signals.stop();
    await closeAgents();
    await traces?.arrive();
    sink.close();
    await housing.sandbox?.close();
  }
}

/** What takes part in a run may read these folders. */
const foldersOf = ({ folder, work, changes = false }: Drive) => ({
  folders: [...new Set([folder, work].filter((each) => each !== undefined))],
  research: changes ? undefined : folder,
});

/** Writes down how a run has ended. Where the state can't be written, the verdict says so already. */
export async function keepEnd<Loaded>(
  store: { load(): Promise<Loaded> },
  write: (loaded: Loaded) => Promise<unknown>,
): Promise<void> {
  try {
    await write(await store.load());
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
  }
}

/** How often a person's messages are looked for, in milliseconds. */
const lookMs = 1_000;

/**
 * Tells a person at once that a run has seen what they asked for from another terminal; it acts on it before its next
 * iteration.
 */
function tellOfMessages(folder: string, tell: Tell): () => void {
  const says = [
    { at: join(folder, pauseName), text: "Paused: the run ends before its next iteration." },
    { at: join(folder, stopName), text: "Stopped: the run ends before its next iteration." },
  ];
  const seen = new Set(says.filter(({ at }) => existsSync(at)).map(({ at }) => at));
  const timer = setInterval(() => {
    for (const { at, text } of says) {
      if (!existsSync(at)) seen.delete(at);
      else if (!seen.has(at)) {
        seen.add(at);
        void tell({ type: "notice", level: "warning", message: text });
      }
    }
    for (const name of existsSync(inboxFolder(folder)) ? readdirSync(inboxFolder(folder)) : []) {
      if (name.startsWith(".") || seen.has(name)) continue;
      seen.add(name);
      void tell({
        type: "notice",
        level: "info",
        message: "A message has arrived; it is read before the next iteration.",
      });
    }
  }, lookMs);
  timer.unref();
  return () => clearInterval(timer);
}
