import type { IdeationResult } from "../generated/result-ideation.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import type { IdeasUnit, JudgedInsight, JudgedPaper } from "./brief.js";
import { countBoth, total } from "./scores.js";
import { groupByTag, LIMITATION } from "./tags.js";
import { clip, titleCase } from "./words.js";

type Idea = IdeationResult["ideas"][number];

/** What a group of insights can be turned into. Fixed forms: an agent without a model can't invent. */
const FORMS = [
  { name: "Toolkit", what: "A toolkit that packages the reported methods", buyer: "the team that would build it" },
  {
    name: "Benchmark",
    what: "A benchmark that repeats the reported measurements",
    buyer: "the team that compares methods",
  },
  {
    name: "Assessment",
    what: "An assessment that checks the reported limits on a given set-up",
    buyer: "the team that decides whether to adopt",
  },
] as const;

/**
 * Ideas made mechanically: a group of insights with a common tag, in one of a few fixed forms, tied to the papers they come
 * from. They never rest on a retracted paper, and on a rejected one only where there is no other. Throws ExpectedError
 * where no insight is left.
 */
export function proposeIdeas(unit: IdeasUnit): IdeationResult {
  const sound = unit.papers.filter(({ retracted }) => !retracted);
  const papers = new Map(sound.map((paper) => [paper.id, paper]));
  const all = unit.insights.filter(({ paperId }) => papers.has(paperId));
  const kept = all.filter(({ paperId }) => papers.get(paperId)?.decision !== "REJECT");
  const insights = kept.length > 0 ? kept : all;
  if (insights.length === 0)
    throw new ExpectedError(
      "No insight in the brief belongs to one of its papers that stand, so there is nothing to build an idea on.",
    );

  const themes = themesOf(insights);
  const wanted = Math.max(unit.minIdeas, Math.min(unit.maxIdeas, themes.length));
  const most = Math.min(wanted, themes.length * FORMS.length, unit.maxIdeas);
  const ideaAt = (index: number): Idea => {
    const { theme, cited } = themes[index % themes.length]!;
    const round = Math.floor(index / themes.length);
    // The form moves on with each round over the themes, so that no pair of theme and form comes twice.
    const form = FORMS[((index % themes.length) + round) % FORMS.length]!;
    const cites = [...new Set(cited.map(({ paperId }) => paperId))].flatMap((id) => papers.get(id) ?? []);
    return ideaOf(theme, form, cited, cites, sound.length);
  };
  const ideas = Array.from({ length: most }, (_, index) => ideaAt(index));
  const points = ({ scores }: Idea) => total(scores).points;
  const [first, second] = ideas.toSorted((a, b) => points(b) - points(a));
  // A second one only where it comes near the best.
  const best = [
    first,
    ...(first !== undefined && second !== undefined && points(second) * 2 >= points(first) ? [second] : []),
  ];
  return { unit: unit.unit, ideas: ideas.map((idea) => ({ ...idea, recommended_for_prd: best.includes(idea) })) };
}

/** Up to six groups by tag of up to eight insights; a group of one is taken only when there are few others. */
function themesOf(insights: readonly JudgedInsight[]): { theme: string; cited: readonly JudgedInsight[] }[] {
  const tagged = [...groupByTag(insights)].map(([theme, members]) => ({ theme, cited: members.slice(0, 8) }));
  const shared = tagged.filter(({ cited }) => cited.length > 1);
  if (shared.length >= FORMS.length) return shared.slice(0, 6);
  return tagged.slice(0, 6);
}

function ideaOf(
  theme: string,
  form: (typeof FORMS)[number],
  cited: readonly JudgedInsight[],
  papers: readonly JudgedPaper[],
  ofPapers: number,
): Idea {
  const text = [
    ...cited.map(({ insight }) => insight),
    ...papers.flatMap(({ summary, results }) => [summary, results]),
  ].join(" ");
  const { execution, blue_ocean } = countBoth(text);
  const name = `${titleCase(theme.split(" "))} ${form.name}`;
  const limit = cited.find(({ tags }) => tags.includes(LIMITATION))?.insight;
  return {
    name: clip(name, 120),
    one_liner: clip(`${form.what}. Theme: ${theme}.`, 300),
    problem: {
      who: "Teams that work on what these papers describe.",
      pain: clip(limit ?? cited.map(({ insight }) => insight).join(" "), 1000),
      why_now: clip(`Papers of this research report on it: ${papers.map(({ title }) => title).join("; ")}.`, 1000),
    },
    solution: {
      what: clip(`${form.what}, as the cited papers state them. Theme: ${theme}.`, 1000),
      key_features: cited.slice(0, 4).map(({ insight }) => clip(insight, 1000)),
      mvp_scope: papers.slice(0, 2).map(({ title }) => clip(`What "${title}" describes, repeated once.`, 1000)),
      out_of_scope: ["Anything that the cited papers do not report."],
      integration_points: ["Not derived: it takes a reader or a model to name them."],
    },
    market: {
      segment: clip(`Users of work on ${theme}; not researched.`, 1000),
      buyer: `Presumably ${form.buyer}; not researched.`,
      users: ["Not researched."],
      alternatives: ["Not researched."],
      differentiators: ["Every feature is tied to an insight of this research."],
    },
    evidence: { paper_ids: papers.map(({ id }) => id), insight_ids: cited.map(({ id }) => id), notes: NOTES },
    risks: [
      {
        type: "evidence",
        risk: clip(limit ?? "The cited insights name no limitation.", 1000),
        mitigation: "Read the cited papers before building anything.",
      },
      {
        type: "method",
        risk: "This idea was composed from tags by a program.",
        mitigation: "Have a person or a model judge it.",
      },
    ],
    open_questions: ["Does anybody need it?", "Do the cited results hold outside of the papers?"],
    scores: { execution, blue_ocean, confidence: Math.min(0.5, Math.round((50 * papers.length) / ofPapers) / 100) },
    recommended_next_steps: ["Read the cited papers.", "Ask a person who knows the field whether the problem is real."],
    recommended_for_prd: false,
  };
}

const NOTES =
  "Baseline agent: extractive, no model. The insights share a tag; the scores are keyword counts over the cited records, not judgement.";
