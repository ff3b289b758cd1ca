import type { AnalysisResult } from "../../../src/research/generated/result-analysis.js";
import type { CheckAnswer } from "../../../src/research/units/check/sentence.js";
import { answerByWords, type ShownSentence } from "./passages-for-controls.js";
import { goodAgent, narrative } from "./research.js";

/** What a checker was shown in one unit. */
interface Seen {
  readonly unit: string;
  readonly sentences: readonly ShownSentence[];
}

type Report = Parameters<typeof narrative>[0];

/**
 * An agent that reads and writes as `goodAgent` does, its report with these parts; that judges what rests on its own
 * papers, p1 and so on, by this, and all else by its words; and mends by `mends`, or gives up. `reads`: its
 * readings. `controlsToo`: judges all alike.
 */
export function judgingAgent(
  judges: (shown: ShownSentence, unit: string) => Omit<CheckAnswer, "number">,
  report: Report = {},
  mends: (sentence: string) => string | null = () => null,
  reads?: (unit: string) => AnalysisResult,
  controlsToo = false,
): { readonly agent: ReturnType<typeof goodAgent>; readonly seen: readonly Seen[] } {
  const seen: Seen[] = [];
  const agent = goodAgent((unit) => {
    const sentences = (unit["sentences"] ?? []) as readonly ShownSentence[];
    const id = String(unit["unit"]);
    if (unit["kind"] === "paper" && reads !== undefined) return { result: reads(id) };
    if (unit["kind"] === "report") return { result: narrative(report) };
    if (unit["kind"] === "check") {
      seen.push({ unit: id, sentences });
      const isOwn = ({ passages }: ShownSentence) => passages.some(({ paper }) => /^p\d/.test(paper ?? ""));
      const answers = sentences.map((each) => ({
        number: each.number,
        ...(controlsToo || isOwn(each) ? judges(each, id) : answerByWords(each)),
      }));
      return { result: { unit: id, answers } };
    }
    if (unit["kind"] === "mend")
      return {
        result: {
          unit: "mend",
          sentences: sentences.map(({ number, sentence }) => ({ number, text: mends(sentence) })),
        },
      };
    return undefined;
  });
  return { agent, seen };
}
