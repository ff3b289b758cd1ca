import type { IdeationResult } from "../generated/result-ideation.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { type BriefUnit, type JudgedPaper, proseOf } from "./brief.js";
import { countBothRubrics, scoreTotal } from "./scores.js";
import { clip, titleCase } from "../search/topic-words.js";
import { groupByTag, limitationTag, themesOf } from "./text.js";

type Idea = IdeationResult["ideas"][number];

/**
 * The kinds of ideas that a group of insights can become. They are fixed, because an agent without a model can't
 * invent.
 */
const ideaForms = [
  ["Toolkit", "A toolkit that packages the reported methods", "the team that would build it"],
  ["Benchmark", "A benchmark that repeats the reported measurements", "the team that compares methods"],
  [
    "Assessment",
    "An assessment that checks the reported limits on a given set-up",
    "the team that decides whether to adopt",
  ],
] as const;

/** What an idea is based on: an insight, or a paper's record if the paper has none. */
interface Ground {
  readonly id?: string;
  readonly paper_id: string;
  readonly insight: string;
  readonly tags: readonly string[];
}

/**
 * Makes ideas mechanically: each is a group of insights with a common tag, in one of the fixed forms, with its papers.
 * If no paper has insights, the papers' records are used. Retracted papers are never used, and rejected papers only if
 * there are no others.
 * @throws ExpectedError if no paper can be used.
 */
export function proposeIdeas(unit: BriefUnit): IdeationResult {
  const { min_ideas: minIdeas = 3, max_ideas: maxIdeas = 12, insights = [] } = unit;
  const usablePapers = (unit.papers ?? []).filter(({ decision }) => !/\bretracted\b/i.test(decision));
  const papers = new Map(usablePapers.map((paper) => [paper.id, paper]));
  const usableInsights = insights
    .filter(({ paper_id }) => papers.has(paper_id))
    .map((insight) => ({ tags: [], ...insight }));
  const grounds: readonly Ground[] = usableInsights.length > 0 ? usableInsights : usablePapers.map(groundOf);
  const includedGrounds = grounds.filter(({ paper_id }) => papers.get(paper_id)?.decision !== "REJECT");
  if (grounds.length === 0)
    throw new ExpectedError("The brief names no included paper, so there is nothing to build an idea on.");

  const themes = themesIn(includedGrounds.length > 0 ? includedGrounds : grounds);
  const count = Math.min(
    Math.max(minIdeas, Math.min(maxIdeas, themes.length)),
    themes.length * ideaForms.length,
    maxIdeas,
  );
  const ideas = Array.from({ length: count }, (_, index) => {
    const [theme, citedGrounds] = themes[index % themes.length]!;
    // The form shifts with each round over the themes, so that no pair of theme and form is repeated.
    const ideaForm = ideaForms[((index % themes.length) + Math.floor(index / themes.length)) % ideaForms.length]!;
    const citedPapers = [...new Set(citedGrounds.map(({ paper_id }) => paper_id))].flatMap(
      (id) => papers.get(id) ?? [],
    );
    return ideaOf(theme, ideaForm, citedGrounds, citedPapers, usablePapers.length);
  });
  const points = ({ scores }: Idea) => scoreTotal(scores).points;
  const [first, second] = ideas.toSorted((a, b) => points(b) - points(a));
  // The second idea is recommended only if it has at least half of the points of the best.
  const isSecondGood = first !== undefined && second !== undefined && points(second) * 2 >= points(first);
  const best = [first, ...(isSecondGood ? [second] : [])];
  return { unit: unit.unit, ideas: ideas.map((idea) => ({ ...idea, recommended_for_prd: best.includes(idea) })) };
}

const groundOf = ({ id, title, summary }: JudgedPaper): Ground => ({
  paper_id: id,
  insight: proseOf(summary) || title,
  tags: themesOf(title, [title]).slice(0, 2),
});

/**
 * Up to six groups with a common tag and up to eight insights. Groups with one insight are used only if there are few
 * others.
 */
function themesIn(grounds: readonly Ground[]): (readonly [string, readonly Ground[]])[] {
  const themes = [...groupByTag(grounds)].map(([theme, members]) => [theme, members.slice(0, 8)] as const);
  const largeThemes = themes.filter(([, citedGrounds]) => citedGrounds.length > 1);
  return (largeThemes.length >= ideaForms.length ? largeThemes : themes).slice(0, 6);
}

function ideaOf(
  theme: string,
  [form, description, buyer]: (typeof ideaForms)[number],
  citedGrounds: readonly Ground[],
  papers: readonly JudgedPaper[],
  paperCount: number,
): Idea {
  const insights = citedGrounds.map(({ insight }) => insight);
  const titles = papers.map(({ title }) => title);
  const limitation = citedGrounds.find(({ tags }) => tags.includes(limitationTag))?.insight;
  const records = papers.flatMap(({ summary, results }) => [proseOf(summary), proseOf(results)]);
  return {
    name: clip(`${titleCase(theme.split(" "))} ${form}`, 120),
    one_liner: clip(`${description}. Theme: ${theme}.`, 300),
    problem: {
      who: "Teams that work on what these papers describe.",
      pain: clip(limitation ?? insights.join(" "), 1000),
      why_now: clip(`Papers of this research report on it: ${titles.join("; ")}.`, 1000),
    },
    solution: {
      what: clip(`${description}, as the cited papers state them. Theme: ${theme}.`, 1000),
      key_features: insights.slice(0, 4).map((insight) => clip(insight, 1000)),
      mvp_scope: titles.slice(0, 2).map((title) => clip(`What "${title}" describes, repeated once.`, 1000)),
      out_of_scope: ["Anything that the cited papers do not report."],
      integration_points: [],
    },
    market: {
      segment: clip(`Users of work on ${theme}; not researched.`, 1000),
      buyer: `Presumably ${buyer}; not researched.`,
      users: [],
      alternatives: [],
      differentiators: [],
    },
    evidence: {
      paper_ids: papers.map(({ id }) => id),
      insight_ids: citedGrounds.flatMap(({ id }) => id ?? []),
      notes:
        "Baseline agent: extractive, no model. Its sources share a tag; the points are keyword counts over the cited records, not judgement.",
    },
    risks: [
      {
        type: "evidence",
        risk: clip(limitation ?? "The cited insights name no limitation.", 1000),
        mitigation: "Read the cited papers, and have a person or a model judge what a program composed from tags.",
      },
    ],
    open_questions: ["Does anybody need it?", "Do the cited results hold outside of the papers?"],
    scores: {
      ...countBothRubrics([...insights, ...records].join(" ")),
      confidence: Math.min(0.5, Math.round((50 * papers.length) / paperCount) / 100),
    },
    recommended_next_steps: ["Ask a person who knows the field whether the problem is real."],
    recommended_for_prd: false,
  };
}
