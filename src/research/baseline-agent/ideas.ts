import type { IdeationResult } from "../generated/result-ideation.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { type BriefUnit, type JudgedPaper, proseOf } from "./brief.js";
import { countBoth, total } from "./scores.js";
import { clip, titleCase } from "../search/topic-words.js";
import { groupByTag, limitation, themesOf } from "./text.js";

type Idea = IdeationResult["ideas"][number];

/** What a group of insights can be turned into. Fixed forms: an agent without a model can't invent. */
const forms = [
  ["Toolkit", "A toolkit that packages the reported methods", "the team that would build it"],
  ["Benchmark", "A benchmark that repeats the reported measurements", "the team that compares methods"],
  [
    "Assessment",
    "An assessment that checks the reported limits on a given set-up",
    "the team that decides whether to adopt",
  ],
] as const;

/** What an idea rests on: an insight, or of a paper without one its record. */
interface Ground {
  readonly id?: string;
  readonly paper_id: string;
  readonly insight: string;
  readonly tags: readonly string[];
}

/**
 * Ideas made mechanically: a group of insights with a common tag, in one of a few fixed forms, tied to the papers they
 * come from. Where no paper gave an insight, the papers' own records stand for them. They never rest on a retracted
 * paper, and on a rejected one only where there is no other. Throws ExpectedError where no paper stands.
 */
export function proposeIdeas(unit: BriefUnit): IdeationResult {
  const { min_ideas: fewest = 3, max_ideas: most = 12, insights = [] } = unit;
  const sound = (unit.papers ?? []).filter(({ decision }) => !/\bretracted\b/i.test(decision));
  const papers = new Map(sound.map((paper) => [paper.id, paper]));
  const found = insights.filter(({ paper_id }) => papers.has(paper_id)).map((one) => ({ tags: [], ...one }));
  const all: readonly Ground[] = found.length > 0 ? found : sound.map(groundOf);
  const kept = all.filter(({ paper_id }) => papers.get(paper_id)?.decision !== "REJECT");
  if (all.length === 0)
    throw new ExpectedError("The brief names no included paper, so there is nothing to build an idea on.");

  const themes = themesIn(kept.length > 0 ? kept : all);
  const count = Math.min(Math.max(fewest, Math.min(most, themes.length)), themes.length * forms.length, most);
  const ideas = Array.from({ length: count }, (_, index) => {
    const [theme, cited] = themes[index % themes.length]!;
    // The form moves on with each round over the themes, so that no pair of theme and form comes twice.
    const form = forms[((index % themes.length) + Math.floor(index / themes.length)) % forms.length]!;
    const cites = [...new Set(cited.map(({ paper_id }) => paper_id))].flatMap((id) => papers.get(id) ?? []);
    return ideaOf(theme, form, cited, cites, sound.length);
  });
  const points = ({ scores }: Idea) => total(scores).points;
  const [first, second] = ideas.toSorted((a, b) => points(b) - points(a));
  // A second one only where it comes near the best.
  const isNear = first !== undefined && second !== undefined && points(second) * 2 >= points(first);
  const best = [first, ...(isNear ? [second] : [])];
  return { unit: unit.unit, ideas: ideas.map((idea) => ({ ...idea, recommended_for_prd: best.includes(idea) })) };
}

const groundOf = ({ id, title, summary }: JudgedPaper): Ground => ({
  paper_id: id,
  insight: proseOf(summary) || title,
  tags: themesOf(title, [title]).slice(0, 2),
});

/** Up to six groups by tag of up to eight insights; a group of one is taken only when there are few others. */
function themesIn(grounds: readonly Ground[]): (readonly [string, readonly Ground[]])[] {
  const tagged = [...groupByTag(grounds)].map(([theme, members]) => [theme, members.slice(0, 8)] as const);
  const shared = tagged.filter(([, cited]) => cited.length > 1);
  return (shared.length >= forms.length ? shared : tagged).slice(0, 6);
}

function ideaOf(
  theme: string,
  [form, what, buyer]: (typeof forms)[number],
  cited: readonly Ground[],
  papers: readonly JudgedPaper[],
  ofPapers: number,
): Idea {
  const said = cited.map(({ insight }) => insight);
  const titles = papers.map(({ title }) => title);
  const limit = cited.find(({ tags }) => tags.includes(limitation))?.insight;
  const records = papers.flatMap(({ summary, results }) => [proseOf(summary), proseOf(results)]);
  return {
    name: clip(`${titleCase(theme.split(" "))} ${form}`, 120),
    one_liner: clip(`${what}. Theme: ${theme}.`, 300),
    problem: {
      who: "Teams that work on what these papers describe.",
      pain: clip(limit ?? said.join(" "), 1000),
      why_now: clip(`Papers of this research report on it: ${titles.join("; ")}.`, 1000),
    },
    solution: {
      what: clip(`${what}, as the cited papers state them. Theme: ${theme}.`, 1000),
      key_features: said.slice(0, 4).map((insight) => clip(insight, 1000)),
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
      insight_ids: cited.flatMap(({ id }) => id ?? []),
      notes:
        "Baseline agent: extractive, no model. Its sources share a tag; the scores are keyword counts over the cited records, not judgement.",
    },
    risks: [
      {
        type: "evidence",
        risk: clip(limit ?? "The cited insights name no limitation.", 1000),
        mitigation: "Read the cited papers, and have a person or a model judge what a program composed from tags.",
      },
    ],
    open_questions: ["Does anybody need it?", "Do the cited results hold outside of the papers?"],
    scores: {
      ...countBoth([...said, ...records].join(" ")),
      confidence: Math.min(0.5, Math.round((50 * papers.length) / ofPapers) / 100),
    },
    recommended_next_steps: ["Ask a person who knows the field whether the problem is real."],
    recommended_for_prd: false,
  };
}
