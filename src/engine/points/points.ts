import type { HookPoint } from "../generated/config.js";
import type { LoopEvent, NewEvent } from "../loop/types.js";

/** The points of a run at which somebody may take part; schemas/config.schema.json has the one list of them. */
export type Point = HookPoint;

/** What is about to be accepted, or to be complete. */
export interface Asked {
  /** Why it is not accepted; empty: it is. */
  readonly vetoes: readonly string[];
  /** What went wrong with those who were asked. */
  readonly told: readonly NewEvent[];
}

/** A text file that an agent has made or changed. */
export interface MadeFile {
  /** Relative to the folder that the agent works on. */
  readonly path: string;
  readonly text: string;
}

/** What an agent has made, before anybody judges it. */
export interface Made {
  readonly iteration: number;
  readonly unit: string;
  readonly phase: string;
  readonly title: string;
  /** Of work on a folder: the files that it changed. */
  readonly files?: readonly MadeFile[];
  /** Of work that ends in a result: the result, as it was checked. */
  readonly result?: unknown;
}

/** What took part makes of it. */
export interface Remade {
  /** Those whose text is another one now. */
  readonly files: readonly MadeFile[];
  /** What is kept beside the result, by who gave it. */
  readonly fields: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly told: readonly NewEvent[];
}

/** What the brief of an agent is about, with its text so far. */
export interface BriefMade {
  readonly iteration: number;
  readonly unit: string;
  readonly phase: string;
  readonly title: string;
  readonly brief: string;
}

/** Somebody who takes part in a run at its points: the person's shell commands, or plugins. None of it ever rejects. */
export interface Participant {
  /** Has reached a point; resolves once it is through, with what went wrong. */
  at(point: Point, facts: object): Promise<readonly NewEvent[]>;
  /** Is asked at a point whether it may be passed. */
  ask(point: Point, proposal: object): Promise<Asked>;
  /** What it adds to a brief; empty: nothing. */
  addTo?(made: BriefMade): Promise<{ readonly text: string; readonly told: readonly NewEvent[] }>;
  /** Transforms what an agent has made. */
  remake?(made: Made): Promise<Remade>;
}

/** All who take part in a run, as one. */
export interface Points {
  /** Everyone who waits for a point of this event is told, one participant after the other. */
  at(event: LoopEvent): Promise<readonly NewEvent[]>;
  /** Asks everyone at each of these points. */
  ask(points: readonly Point[], proposal: object): Promise<Asked>;
  addTo(made: BriefMade): Promise<{ readonly text: string; readonly told: readonly NewEvent[] }>;
  /** Each participant gets what the one before it has made of it. */
  remake(made: Made): Promise<Remade>;
  /** Whether anyone may want to transform what agents make. */
  readonly remakes: () => boolean;
}

/** Joins those who take part. `participants` is asked anew each time: some come once the run has begun. */
export function pointsOf(participants: () => readonly Participant[]): Points {
  let phase: string | undefined;
  return {
    async at(event) {
      const next = phaseOf(event) ?? phase;
      const change = phase !== undefined && next !== phase ? { from: phase, to: next } : undefined;
      phase = next;
      const notices: NewEvent[] = [];
      for (const point of [...(change === undefined ? [] : ["phase-changed" as const]), ...pointsIn(event)]) {
        const facts = point === "phase-changed" ? { ...event, ...change } : event;
        for (const each of participants()) notices.push(...(await each.at(point, facts)));
      }
      return notices;
    },
    async ask(points, proposal) {
      const answers = participants().flatMap((each) => points.map((point) => each.ask(point, proposal)));
      const asked = await Promise.all(answers);
      return { vetoes: asked.flatMap(({ vetoes }) => vetoes), told: asked.flatMap(({ told: notices }) => notices) };
    },
    async addTo(made) {
      const additions = await Promise.all(participants().map((each) => each.addTo?.(made) ?? { text: "", told: [] }));
      const texts = additions.map(({ text }) => text).filter((text) => text !== "");
      return { text: texts.join("\n\n"), told: additions.flatMap(({ told: notices }) => notices) };
    },
    async remake(made) {
      let remade: Remade = { files: [], fields: {}, told: [] };
      for (const each of participants()) {
        const changes = await each.remake?.(withFiles(made, remade.files));
        if (changes === undefined) continue;
        const { files, fields, told: notices } = changes;
        remade = {
          files: mergeFiles(remade.files, files),
          fields: { ...remade.fields, ...fields },
          told: [...remade.told, ...notices],
        };
      }
      return remade;
    },
    remakes: () => participants().some(({ remake }) => remake !== undefined),
  };
}

const withFiles = (made: Made, changed: readonly MadeFile[]): Made =>
  made.files === undefined ? made : { ...made, files: mergeFiles(made.files, changed) };

/** Files with those of `newer` in the place of the ones at the same path. */
const mergeFiles = (files: readonly MadeFile[], newer: readonly MadeFile[]): MadeFile[] => [
  ...new Map([...files, ...newer].map((file) => [file.path, file])).values(),
];

function phaseOf(event: LoopEvent): string | undefined {
  if (event.type === "iteration-started") return event.phase;
  return event.type === "run-ended" && event.verdict.verdict === "complete" ? "COMPLETE" : undefined;
}

function pointsIn(event: LoopEvent): Point[] {
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
