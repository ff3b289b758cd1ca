import type { AgentEvent, IterationStarted, LoopEvent, Usage } from "../generated/event.js";

export type Attribute = string | number | boolean;

/**
 * A part of a run with its start and end in milliseconds since the epoch. Contains no text of briefs, papers or
 * answers.
 */
export interface Span {
  /** 16 hexadecimal digits. */
  readonly id: string;
  /** The id of the span that contains this one; absent for the span of the run. */
  readonly parent?: string;
  readonly name: string;
  readonly start: number;
  end: number;
  readonly attributes: Record<string, Attribute>;
  /** The kind of failure; absent if it did not fail. */
  failure?: string;
}

interface Iteration {
  readonly span: Span;
  /** The span of the tool that the agent uses now. Agents do not report when a tool call ends. */
  tool?: Span;
}

/**
 * Creates a function that makes spans from the events of one run. The run contains units, a unit contains preparations
 * and iterations, and an iteration contains tool calls. Names and attributes follow OpenTelemetry's conventions for
 * generative AI; other names begin with `research_ralph.`. A span is passed to `onEnd` when it ends.
 */
export function createSpanRecorder(newId: () => string, onEnd: (span: Span) => void): (event: LoopEvent) => void {
  let run: Span | undefined;
  const units = new Map<string, Span>();
  const preparing = new Map<string, Span>();
  const iterations = new Map<number, Iteration>();

  const openSpan = (
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
  const closeSpan = (
    span: Span | undefined,
    end: number,
    attributes: Record<string, Attribute | undefined> = {},
    failure?: string,
  ) => {
    if (span === undefined) return;
    Object.assign(span.attributes, definedAttributes(attributes));
    span.end = end;
    if (failure !== undefined) span.failure = failure;
    onEnd(span);
  };
  const unitSpanOf = (id: string, phase: string, time: number): Span => {
    const unit =
      units.get(id) ??
      openSpan(`unit ${phase}`, time, run, { [attributeName("unit")]: id, [attributeName("phase")]: phase });
    units.set(id, unit);
    return unit;
  };
  const endUnit = (id: string, time: number, outcome: string, failure?: string) => {
    const unit = units.get(id);
    // The unit ends without a failure, so a failure of an earlier iteration is removed.
    if (failure === undefined) delete unit?.failure;
    closeSpan(unit, time, { [attributeName("outcome")]: outcome }, failure);
    units.delete(id);
  };

  const onAgentEvent = (iteration: number, time: number, event: AgentEvent) => {
    const iterationState = iterations.get(iteration);
    if (iterationState === undefined) return;
    // Usage and notices are also reported during a tool call, so they do not end it.
    if (event.type !== "usage" && event.type !== "notice") {
      closeSpan(iterationState.tool, time);
      delete iterationState.tool;
    }
    if (event.type === "tool")
      iterationState.tool = openSpan(`execute_tool ${firstWord(event.name)}`, time, iterationState.span, {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": firstWord(event.name),
      });
    if (event.type === "usage" && event.model !== undefined) {
      iterationState.span.attributes["gen_ai.request.model"] = event.model;
      iterationState.span.attributes["gen_ai.provider.name"] = providerOf(event.model);
    }
    if (event.type === "end" && event.failure !== undefined) iterationState.span.failure = event.failure.kind;
  };

  return (event) => {
    const time = Date.parse(event.at);
    switch (event.type) {
      case "run-started":
        run = openSpan(`invoke_workflow ${event.workflow}`, time, undefined, {
          "gen_ai.operation.name": "invoke_workflow",
          "gen_ai.workflow.name": event.workflow,
        });
        break;
      case "preparing":
        preparing.set(event.unit, openSpan("prepare", time, unitSpanOf(event.unit, event.phase, time), {}));
        break;
      case "prepared": {
        const failure = event.outcome === "failed" ? "preparation" : undefined;
        closeSpan(preparing.get(event.unit), time, { [attributeName("outcome")]: event.outcome }, failure);
        preparing.delete(event.unit);
        if (event.outcome !== "ready") endUnit(event.unit, time, event.outcome, failure);
        break;
      }
      case "iteration-started":
        iterations.set(event.iteration, {
          span: openSpan(spanNameOf(event), time, unitSpanOf(event.unit, event.phase, time), startAttributes(event)),
        });
        break;
      case "agent":
        onAgentEvent(event.iteration, time, event.event);
        break;
      case "iteration-ended": {
        const iterationState = iterations.get(event.iteration);
        iterations.delete(event.iteration);
        const { outcome } = event.outcome;
        closeSpan(iterationState?.tool, time);
        const failure = event.outcome.outcome === "failed" ? event.outcome.failure.kind : undefined;
        closeSpan(
          iterationState?.span,
          time,
          { ...usageAttributes(event.usage, event.cost_usd), [attributeName("outcome")]: outcome },
          failure,
        );
        const unit = units.get(event.unit);
        // A unit whose result was not accepted continues.
        if (outcome === "accepted") endUnit(event.unit, time, outcome);
        else if (unit !== undefined) Object.assign(unit, { end: time, failure });
        break;
      }
      case "run-ended": {
        const { verdict } = event.verdict;
        for (const { span, tool } of iterations.values())
          for (const openSpan of [tool, span]) closeSpan(openSpan, time);
        for (const span of preparing.values()) closeSpan(span, time);
        // A unit that was not completed ended with its last iteration.
        for (const span of units.values()) closeSpan(span, span.end === span.start ? time : span.end);
        closeSpan(run, time, { [attributeName("verdict")]: verdict }, verdict === "failed" ? "failed" : undefined);
        break;
      }
      default:
    }
  };
}

const attributeName = (name: string): string => `research_ralph.${name}`;

const spanNameOf = ({ agent }: IterationStarted): string =>
  agent === undefined ? "code" : `invoke_agent ${agentNameOf(agent)}`;

/** The name of an agent, without a command of the user, because the command may contain any text. */
const agentNameOf = (agent: string): string => (/^(?:fleet:)?cmd:/.test(agent) ? "cmd" : firstWord(agent));

/** The first word of a tool's name; some agents add details to the name. */
const firstWord = (text: string): string => (text.trim().split(/\s/, 1)[0] ?? "").slice(0, 60);

const startAttributes = ({ agent, iteration, brief_tokens, role, round }: IterationStarted) => ({
  ...(agent === undefined
    ? {}
    : {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": agentNameOf(agent),
        "gen_ai.provider.name": providerOf(agentNameOf(agent)),
      }),
  [attributeName("iteration")]: iteration,
  [attributeName("brief_tokens")]: brief_tokens,
  [attributeName("role")]: role,
  [attributeName("round")]: round,
});

const definedAttributes = (attributes: Record<string, Attribute | undefined>): Record<string, Attribute> =>
  Object.fromEntries(
    Object.entries(attributes).filter((entry): entry is [string, Attribute] => entry[1] !== undefined),
  );

const usageAttributes = ({ input, cached, output, requests }: Usage, costUsd: number | undefined) => ({
  "gen_ai.usage.input_tokens": input,
  "gen_ai.usage.cache_read.input_tokens": cached,
  "gen_ai.usage.output_tokens": output,
  [attributeName("requests")]: requests,
  [attributeName("cost_usd")]: costUsd,
});

/** OpenTelemetry's names for the providers of agents and models, by a pattern of their names. */
const providers: readonly (readonly [RegExp, string])[] = [
  [/claude/i, "anthropic"],
  [/^(?:gpt|codex|o\d)/i, "openai"],
  [/gemini/i, "gcp.gemini"],
];
const providerOf = (name: string): string => providers.find(([pattern]) => pattern.test(name))?.[1] ?? name;
