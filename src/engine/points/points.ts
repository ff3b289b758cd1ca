import type { HookPoint } from "../generated/config.js";
import { type LoopEvent, type NewEvent, isVerdict, type Tell, type Unit, type Workflow } from "../loop/types.js";
import { estimateTokens } from "../lib/tokens.js";

/** A point of a run at which hooks and plugins are called; the list is in schemas/config.schema.json. */
export type Point = HookPoint;

/** The answers to a proposal: whether a result is accepted, or whether the work is complete. */
export interface ProposalAnswer {
  /** Reasons against the proposal; empty: it is accepted. */
  readonly vetoes: readonly string[];
  /** Warnings about hooks and plugins that failed. */
  readonly notices: readonly NewEvent[];
}

/** A text file that an agent created or changed. */
export interface MadeFile {
  /** Path relative to the folder in which the agent works. */
  readonly path: string;
  readonly text: string;
}

/** The output of an agent before it is judged. */
export interface AgentOutput {
  readonly iteration: number;
  readonly unit: string;
  readonly phase: string;
  readonly title: string;
  /** For work on a folder: the changed files. */
  readonly files?: readonly MadeFile[];
  /** For work with a result: the validated result. */
  readonly result?: unknown;
}

/** The changes that plugins make to the output of an agent. */
export interface OutputChanges {
  /** Files whose text has changed. */
  readonly files: readonly MadeFile[];
  /** Fields to store with the result, by the name of the plugin. */
  readonly fields: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly notices: readonly NewEvent[];
}

/** A brief, and the unit for which it is written. */
export interface BriefDraft {
  readonly iteration: number;
  readonly unit: string;
  readonly phase: string;
  readonly title: string;
  readonly brief: string;
}

/** A receiver that is called at points of a run: the user's shell hooks, or plugins. Its methods never reject. */
export interface Participant {
  /** Called at a point; resolves with warnings when all hooks for it have ended. */
  at(point: Point, facts: object): Promise<readonly NewEvent[]>;
  /** Asks for vetoes against a proposal. */
  ask(point: Point, proposal: object): Promise<ProposalAnswer>;
  /** Returns the text that is added to a brief; it may be empty. */
  addToBrief?(made: BriefDraft): Promise<{ readonly text: string; readonly notices: readonly NewEvent[] }>;
  /** Changes the output of an agent. */
  changeOutput?(made: AgentOutput): Promise<OutputChanges>;
}

/** All participants of a run together. */
export interface Points {
  /** Calls all participants at the points of this event, one after the other. */
  at(event: LoopEvent): Promise<readonly NewEvent[]>;
  /** Asks all participants at each of these points. */
  ask(points: readonly Point[], proposal: object): Promise<ProposalAnswer>;
  addToBrief(made: BriefDraft): Promise<{ readonly text: string; readonly notices: readonly NewEvent[] }>;
  /** Each participant gets the output as the previous one changed it. */
  changeOutput(made: AgentOutput): Promise<OutputChanges>;
  /** Whether a participant may change the output of agents. */
  readonly canChangeOutput: () => boolean;
}

/** Combines participants. Calls `participants` each time, because some are added during the run. */
export function combineParticipants(participants: () => readonly Participant[]): Points {
  let phase: string | undefined;
  return {
    async at(event) {
      const newPhase = phaseOf(event) ?? phase;
      const phaseChange = phase !== undefined && newPhase !== phase ? { from: phase, to: newPhase } : undefined;
      phase = newPhase;
      const notices: NewEvent[] = [];
      for (const point of [...(phaseChange === undefined ? [] : ["phase-changed" as const]), ...pointsOf(event)]) {
        const facts = point === "phase-changed" ? { ...event, ...phaseChange } : event;
        for (const participant of participants()) notices.push(...(await participant.at(point, facts)));
      }
      return notices;
    },
    async ask(points, proposal) {
      const answers = participants().flatMap((participant) => points.map((point) => participant.ask(point, proposal)));
      const results = await Promise.all(answers);
      return { vetoes: results.flatMap(({ vetoes }) => vetoes), notices: results.flatMap(({ notices }) => notices) };
    },
    async addToBrief(made) {
      const additions = await Promise.all(
        participants().map((participant) => participant.addToBrief?.(made) ?? { text: "", notices: [] }),
      );
      const texts = additions.map(({ text }) => text).filter((text) => text !== "");
      return { text: texts.join("\n\n"), notices: additions.flatMap(({ notices }) => notices) };
    },
    async changeOutput(made) {
      let changesSoFar: OutputChanges = { files: [], fields: {}, notices: [] };
      for (const participant of participants()) {
        const changes = await participant.changeOutput?.(withFiles(made, changesSoFar.files));
        if (changes === undefined) continue;
        const { files, fields, notices } = changes;
        changesSoFar = {
          files: mergeFiles(changesSoFar.files, files),
          fields: { ...changesSoFar.fields, ...fields },
          notices: [...changesSoFar.notices, ...notices],
        };
      }
      return changesSoFar;
    },
    canChangeOutput: () => participants().some(({ changeOutput }) => changeOutput !== undefined),
  };
}

const withFiles = (made: AgentOutput, changed: readonly MadeFile[]): AgentOutput =>
  made.files === undefined ? made : { ...made, files: mergeFiles(made.files, changed) };

/** The files of both lists. If both have a file with the same path, the file of `newer` is used. */
const mergeFiles = (files: readonly MadeFile[], newer: readonly MadeFile[]): MadeFile[] => [
  ...new Map([...files, ...newer].map((file) => [file.path, file])).values(),
];

function phaseOf(event: LoopEvent): string | undefined {
  if (event.type === "iteration-started") return event.phase;
  return event.type === "run-ended" && event.verdict.verdict === "complete" ? "COMPLETE" : undefined;
}

function pointsOf(event: LoopEvent): Point[] {
  switch (event.type) {
    case "iteration-started":
      return ["before-iteration"];
    case "iteration-ended": {
      const { outcome } = event.outcome;
      return ["after-iteration", ...(outcome === "failed" || outcome === "noted" ? [] : [outcome])];
    }
    case "checked":
      return (event.failing ?? 0) > 0 ? ["tests-failed"] : [];
    case "run-ended":
      return [event.verdict.verdict];
    default:
      return [];
  }
}

/** Extends a workflow so that participants of the run can add text at the end of its briefs. */
export function withAddedBriefs<State, U extends Unit, P, C>(
  workflow: Workflow<State, U, P, C>,
  points: Pick<Points, "addToBrief">,
  tell: Tell,
): Workflow<State, U, P, C> {
  return {
    ...workflow,
    async brief(state, unit, prepared, notes) {
      const briefing = await workflow.brief(state, unit, prepared, notes);
      if (briefing === "stale" || isVerdict(briefing)) return briefing;
      const { brief } = briefing;
      const unitFacts = { unit: unit.id, phase: unit.phase, title: unit.title };
      const { text, notices } = await points.addToBrief({
        iteration: brief.iteration ?? 0,
        ...unitFacts,
        brief: brief.text,
      });
      for (const event of notices) await tell(event);
      if (text === "") return briefing;
      const tokens = (brief.tokens ?? estimateTokens(brief.text)) + estimateTokens(text);
      return { ...briefing, brief: { ...brief, text: `${brief.text}\n\n${text}\n`, tokens } };
    },
  };
}
