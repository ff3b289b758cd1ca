import { estimateTokens } from "../lib/tokens.js";
import { isVerdict, type Tell, type Unit, type Workflow } from "../loop/types.js";
import type { Points } from "./points.js";

/** Extends a workflow so that participants of the run can add text at the end of its briefs. */
export function withAddedBriefs<State, U extends Unit, P, C>(
  workflow: Workflow<State, U, P, C>,
  points: Pick<Points, "addTo">,
  tell: Tell,
): Workflow<State, U, P, C> {
  return {
    ...workflow,
    async brief(state, unit, prepared, notes) {
      const briefing = await workflow.brief(state, unit, prepared, notes);
      if (briefing === "stale" || isVerdict(briefing)) return briefing;
      const { brief } = briefing;
      const unitFacts = { unit: unit.id, phase: unit.phase, title: unit.title };
      const { text, told } = await points.addTo({ iteration: brief.iteration ?? 0, ...unitFacts, brief: brief.text });
      for (const event of told) await tell(event);
      if (text === "") return briefing;
      const tokens = (brief.tokens ?? estimateTokens(brief.text)) + estimateTokens(text);
      return { ...briefing, brief: { ...brief, text: `${brief.text}\n\n${text}\n`, tokens } };
    },
  };
}
