import { estimateTokens } from "../lib/tokens.js";
import { isVerdict, type Tell, type Unit, type Workflow } from "../loop/types.js";
import type { Points } from "./points.js";

/** The workflow, to whose briefs those who take part in the run may add: at their end, bounded for each of them. */
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
      for (const each of told) await tell(each);
      if (text === "") return briefing;
      const tokens = (brief.tokens ?? estimateTokens(brief.text)) + estimateTokens(text);
      return { ...briefing, brief: { ...brief, text: `${brief.text}\n\n${text}\n`, tokens } };
    },
  };
}
