import type { AgentEvent, IterationStarted, LoopEvent, Usage } from "../generated/event.js";

export type Attribute = string | number | boolean;

/** A part of a run with its time, in milliseconds since the epoch. It holds no text of a brief, paper or answer. */
export interface Span {
  /** 16 hexadecimal digits. */
  readonly id: string;
  /** Absent: the run itself. */
  readonly parent?: string;
  readonly name: string;
  readonly start: number;
  end: number;
  readonly attributes: Record<string, Attribute>;
  /** The kind of failure it ended with. */
  failure?: string;
}

interface Iteration {
  readonly span: Span;
  readonly unit: string;
  /** What the agent does since it said so; it tells no end of it. */
  tool?: Span;
}

/**
 * Makes spans of the events of one run: the run, in it its units, in these their preparations and iterations, and in an
 * iteration the tools of the agent. Names and attributes are those that OpenTelemetry has for generative AI; what it
 * has no name for begins with `research_ralph.`. A span is handed to `ended` once it has ended.
 */
export function spansOf(newId: () => string, ended: (span: Span) => void): (event: LoopEvent) => void {
  let run: Span | undefined;
  const units = new Map<string, Span>();
  const preparing = new Map<string, Span>();
  const iterations = new Map<number, Iteration>();

  const open = (
    name: string,
    start: number,
    parent: Span | undefined,
    attributes: Record<string, Attribute | undefined>,
  ) => {
    const parentField = parent === undefined ? {} : { parent: parent.id };
    return {
      id: newId(),
      ...parentField,
      name,
      start,
      end: start,
      attributes: definedAttributes(attributes),
    } satisfies Span as Span;
  };
  const close = (
    span: Span | undefined,
    end: number,
    attributes: Record<string, Attribute | undefined> = {},
    failure?: string,
  ) => {
    if (span === undefined) return;
    Object.assign(span.attributes, definedAttributes(attributes));
    span.end = end;
    if (failure !== undefined) span.failure = failure;
    ended(span);
  };
  const unitOf = (id: string, phase: string, time: number): Span => {
    const unit =
      units.get(id) ??
      open(`unit ${phase}`, time, run, { [attributeName("unit")]: id, [attributeName("phase")]: phase });
    units.set(id, unit);
    return unit;
  };
  const endUnit = (id: string, time: number, outcome: string, failure?: string) => {
    const unit = units.get(id);
    // What failed before has been mended since.
    if (failure === undefined) delete unit?.failure;
    close(unit, time, { [attributeName("outcome")]: outcome }, failure);
    units.delete(id);
  };

  const onAgentEvent = (iteration: number, time: number, event: AgentEvent) => {
    const live = iterations.get(iteration);
    if (live === undefined) return;
    // Its usage comes while a tool is at work, too.
    if (event.type !== "usage" && event.type !== "notice") {
      close(live.tool, time);
      delete live.tool;
    }
    if (event.type === "tool")
      live.tool = open(`execute_tool ${firstWord(event.name)}`, time, live.span, {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": firstWord(event.name),
      });
    if (event.type === "usage" && event.model !== undefined) {
      live.span.attributes["gen_ai.request.model"] = event.model;
      live.span.attributes["gen_ai.provider.name"] = providerOf(event.model);
    }
    if (event.type === "end" && event.failure !== undefined) live.span.failure = event.failure.kind;
  };

  return (event) => {
    const time = Date.parse(event.at);
    switch (event.type) {
      case "run-started":
        run = open(`invoke_workflow ${event.workflow}`, time, undefined, {
          "gen_ai.operation.name": "invoke_workflow",
          "gen_ai.workflow.name": event.workflow,
        });
        break;
      case "preparing":
        preparing.set(event.unit, open("prepare", time, unitOf(event.unit, event.phase, time), {}));
        break;
      case "prepared": {
        const failure = event.outcome === "failed" ? "preparation" : undefined;
        close(preparing.get(event.unit), time, { [attributeName("outcome")]: event.outcome }, failure);
        preparing.delete(event.unit);
        if (event.outcome !== "ready") endUnit(event.unit, time, event.outcome, failure);
        break;
      }
      case "iteration-started":
        iterations.set(event.iteration, {
          unit: event.unit,
          span: open(nameOf(event), time, unitOf(event.unit, event.phase, time), startAttributes(event)),
        });
        break;
      case "agent":
        onAgentEvent(event.iteration, time, event.event);
        break;
      case "iteration-ended": {
        const live = iterations.get(event.iteration);
        iterations.delete(event.iteration);
        const { outcome } = event.outcome;
        close(live?.tool, time);
        const failure = event.outcome.outcome === "failed" ? event.outcome.failure.kind : undefined;
        close(
          live?.span,
          time,
          { ...usageAttributes(event.usage, event.cost_usd), [attributeName("outcome")]: outcome },
          failure,
        );
        const unit = units.get(event.unit);
        // Anything else than accepted is tried again, or gone on with, as the same unit.
        if (outcome === "accepted") endUnit(event.unit, time, outcome);
        else if (unit !== undefined) Object.assign(unit, { end: time, failure });
        break;
      }
      case "run-ended": {
        const { verdict } = event.verdict;
        for (const { span, tool } of iterations.values()) for (const each of [tool, span]) close(each, time);
        for (const span of preparing.values()) close(span, time);
        // One that was given up has ended with its last iteration.
        for (const span of units.values()) close(span, span.end === span.start ? time : span.end);
        close(run, time, { [attributeName("verdict")]: verdict }, verdict === "failed" ? "failed" : undefined);
        break;
      }
      default:
    }
  };
}

const attributeName = (name: string): string => `research_ralph.${name}`;

const nameOf = ({ agent }: IterationStarted): string =>
  agent === undefined ? "code" : `invoke_agent ${nameIn(agent)}`;

/** Without a command of the person's own, which may hold anything. */
const nameIn = (agent: string): string => (/^(?:fleet:)?cmd:/.test(agent) ? "cmd" : firstWord(agent));

/** Some agents call a tool by a title that says what it is about. */
const firstWord = (text: string): string => (text.trim().split(/\s/, 1)[0] ?? "").slice(0, 60);

const startAttributes = ({ agent, iteration, brief_tokens, role, round }: IterationStarted) => ({
  ...(agent === undefined
    ? {}
    : {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": nameIn(agent),
        "gen_ai.provider.name": providerOf(nameIn(agent)),
      }),
  [attributeName("iteration")]: iteration,
  [attributeName("brief_tokens")]: brief_tokens,
  [attributeName("role")]: role,
  [attributeName("round")]: round,
});

const definedAttributes = (attributes: Record<string, Attribute | undefined>): Record<string, Attribute> =>
  Object.fromEntries(Object.entries(attributes).filter((each): each is [string, Attribute] => each[1] !== undefined));

const usageAttributes = ({ input, cached, output, requests }: Usage, costUsd: number | undefined) => ({
  "gen_ai.usage.input_tokens": input,
  "gen_ai.usage.cache_read.input_tokens": cached,
  "gen_ai.usage.output_tokens": output,
  [attributeName("requests")]: requests,
  [attributeName("cost_usd")]: costUsd,
});

/** Who OpenTelemetry calls the makers of these agents and models; any other is called by its own name. */
const providers: readonly (readonly [RegExp, string])[] = [
  [/claude/i, "anthropic"],
  [/^(?:gpt|codex|o\d)/i, "openai"],
  [/gemini/i, "gcp.gemini"],
];
const providerOf = (name: string): string => providers.find(([pattern]) => pattern.test(name))?.[1] ?? name;
