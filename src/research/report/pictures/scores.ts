import { type Markup, markup } from "../../../engine/lib/markup.js";
import { type Drawing, statuses, figure, anchorOf, legendOf, mark } from "./picture.js";
import { type PaperStatus } from "../papers.js";
import { type Box, boxesAlong, counted, overlaps, placedLabels, round, shortened } from "./words.js";
import { groupBy } from "../../../engine/lib/group.js";

/** A judged paper. */
export interface ScoredPaper {
  readonly id: string;
  readonly title: string;
  readonly status: PaperStatus;
  /** 0 to 30; with one rubric 0 to its maximum. */
  readonly execution: number;
  /** 0 to 20; absent with one rubric. */
  readonly strategic?: number;
}

/** A threshold, such as 25: presented. */
export interface ScoreLine {
  readonly at: number;
  readonly says: string;
}

/** If there are more papers, papers with the same scores are one mark. The size of a mark shows their number. */
const maxDots = 200;
/** The angle between two marks of a spiral, in radians. With this angle, no mark covers another. */
const goldenAngle = 2.4;

/** The scores of the papers, with the thresholds. Undefined if no paper has a score. */
export function scoresPicture(
  papers: readonly ScoredPaper[],
  { lines, maxScore }: { readonly lines: readonly ScoreLine[]; readonly maxScore: number },
): Markup | undefined {
  if (papers.length === 0) return undefined;
  const isOneRubric = papers.every(({ strategic }) => strategic === undefined);
  const kinds = statuses.filter((kind) => papers.some(({ status }) => status === kind));
  const isGrouped = papers.length > maxDots;
  const meanings = lines.map(({ at, says }) => `${at}: ${says}`).join("; ");
  const thresholdsText = lines.length === 0 ? "" : ` Dashed lines: ${meanings}.`;
  const caption = isOneRubric
    ? `${counted(papers.length, "judged paper")} by their points of ${maxScore}.${thresholdsText}`
    : `${counted(papers.length, "judged paper")} by the points of both rubrics.${thresholdsText} ${
        isGrouped ? "A larger sign stands for more papers with the same points." : "Select a sign to go to its paper."
      }`;
  const description = `Points of ${counted(papers.length, "paper")}: ${kinds
    .map((kind) => `${papers.filter(({ status }) => status === kind).length} ${kind}`)
    .join(", ")}.`;
  const groups = isOneRubric ? groupsByExecution(papers, maxScore) : groupsOf(papers, isGrouped);
  const draw = (width: number) =>
    isOneRubric ? stackPicture(groups, lines, width, maxScore) : planePicture(groups, isGrouped, lines, width);
  return figure(description, caption, draw, legendOf(kinds));
}

/** Papers with the same position, in the order of their first paper. */
type Groups = ReadonlyMap<number, readonly ScoredPaper[]>;

/** Groups of papers with the same scores of both rubrics; if there are many papers, also with the same decision. */
const groupsOf = (papers: readonly ScoredPaper[], isGrouped: boolean): Groups =>
  groupBy(
    papers,
    // One number for each combination of the two scores and the status.
    ({ execution, strategic = 0, status }) =>
      (Math.round(execution) * 1000 + Math.round(strategic)) * 10 + (isGrouped ? statuses.indexOf(status) : 0),
  );

/** Groups of papers with the same score of one rubric. */
const groupsByExecution = (papers: readonly ScoredPaper[], maxScore: number): Groups =>
  groupBy(papers, ({ execution }) => Math.round(Math.max(0, Math.min(maxScore, execution))));

/** Execution is the horizontal axis, strategy the vertical one. Each threshold is a line of equal sums. */
function planePicture(groups: Groups, isGrouped: boolean, lines: readonly ScoreLine[], width: number): Drawing {
  const left = 44;
  const right = width - 12;
  const top = 12;
  const bottom = top + Math.round((right - left) * (width < 500 ? 0.85 : 0.56));
  const x = (points: number) => left + ((right - left) * Math.max(0, Math.min(30, points))) / 30;
  const y = (points: number) => bottom - ((bottom - top) * Math.max(0, Math.min(20, points))) / 20;
  const grid = [
    ...[0, 5, 10, 15, 20, 25, 30].map(
      (at) =>
        markup`<path class="grid" d="M${round(x(at))} ${top}V${bottom}"/><text class="tick" x="${round(x(at))}" y="${bottom + 17}" text-anchor="middle">${at}</text>`,
    ),
    ...[0, 5, 10, 15, 20].map(
      (at) =>
        markup`<path class="grid" d="M${left} ${round(y(at))}H${right}"/><text class="tick" x="${left - 8}" y="${round(y(at) + 4)}" text-anchor="end">${at}</text>`,
    ),
  ];
  const dots = dotsOf(groups, isGrouped, x, y);
  const occupied = dots.map(({ at: [cx, cy], radius }): Box => [cx - radius, cy - radius, cx + radius, cy + radius]);
  const lineBoxes: Box[] = [];
  const thresholdLines = lines.flatMap(({ at }) => {
    // The points where the line of this sum enters and leaves the plane.
    const [fromX, fromY] = at > 20 ? [at - 20, 20] : [0, at];
    const [toX, toY] = at > 30 ? [30, at - 30] : [at, 0];
    if (at <= 0 || at >= 50) return [];
    const [from, to] = [[x(fromX), y(fromY)] as const, [x(toX), y(toY)] as const];
    lineBoxes.push(...boxesAlong(from, to));
    // The label is beside the line, as near to its start as possible without covering a mark.
    const places = [0, 0.06, 0.12, 0.18, 0.24].map((share): Box => {
      const [cx, cy] = [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
      return [cx + 13, cy + 1, cx + 32, cy + 16];
    });
    const labelBox = places.find((place) => !overlaps(place, occupied)) ?? (places[0] as Box);
    occupied.push(labelBox);
    return [
      markup`<path class="bar" d="M${round(from[0])} ${round(from[1])}L${round(to[0])} ${round(to[1])}"/><text class="axis" x="${round(labelBox[0] + 2)}" y="${round(labelBox[1] + 12)}">${at}</text>`,
    ];
  });
  const maxLabelWidth = width < 500 ? 120 : 170;
  const labelled = dots.filter(({ paper, count }) => count === 1 && paper.status === "presented").slice(0, 14);
  const labels = labelled.map(({ paper, at, radius }) => ({
    text: shortened(paper.title, maxLabelWidth, 12),
    x: at[0],
    y: at[1],
    radius,
  }));
  return {
    height: bottom + 42,
    parts: markup`${grid}${thresholdLines}<text class="axis" x="${round((left + right) / 2)}" y="${bottom + 37}" text-anchor="middle">Execution, of 30</text><text class="axis" transform="translate(12 ${round((top + bottom) / 2)}) rotate(-90)" text-anchor="middle">Strategy, of 20</text>${dots.map(({ mark }) => mark)}${placedLabels(labels, occupied, [left, top, right + 10, bottom], { lines: lineBoxes })}`,
  };
}

interface Dot {
  readonly paper: ScoredPaper;
  readonly count: number;
  readonly at: readonly [number, number];
  readonly radius: number;
  readonly mark: Markup;
}

/**
 * The marks of papers with the same scores are placed around each other in a spiral; if there are many papers, they are
 * one mark.
 */
function dotsOf(
  groups: Groups,
  isGrouped: boolean,
  x: (points: number) => number,
  y: (points: number) => number,
): Dot[] {
  const largestGroup = Math.max(...[...groups.values()].map(({ length }) => length));
  return [...groups.values()].flatMap((group): Dot[] => {
    const [first] = group;
    if (first === undefined) return [];
    const positionOf = (paper: ScoredPaper) => [x(paper.execution), y(paper.strategic ?? 0)] as const;
    if (isGrouped) {
      const position = positionOf(first);
      const radius = 2.5 + 8 * Math.sqrt(group.length / largestGroup);
      const groupMark = markup`<g>${mark(first.status, position[0], position[1], radius)}<title>${counted(group.length, "paper")}</title></g>`;
      return [{ paper: first, count: group.length, at: position, radius, mark: groupMark }];
    }
    return group.map((paper, index) => {
      const [cx, cy] = positionOf(paper);
      const distance = index === 0 ? 0 : 7.6 * Math.sqrt(index);
      const angle = index * goldenAngle;
      const position = [cx + distance * Math.cos(angle), cy + distance * Math.sin(angle)] as const;
      return {
        paper,
        count: 1,
        at: position,
        radius: 5,
        mark: linked(paper, mark(paper.status, position[0], position[1], 5)),
      };
    });
  });
}

/** A mark that links to its paper. */
const linked = ({ id, title }: ScoredPaper, paperMark: Markup): Markup =>
  markup`<a href="#${anchorOf(id)}">${paperMark}<title>${shortened(title, 1200, 12)}</title></a>`;

/** One rubric: papers are stacked over their scores. */
function stackPicture(piles: Groups, lines: readonly ScoreLine[], width: number, maxScore: number): Drawing {
  const left = 10;
  const right = width - 10;
  const tallest = Math.max(...[...piles.values()].map(({ length }) => length));
  const step = Math.min(12, 150 / tallest);
  const bottom = Math.max(70, tallest * step + 34);
  const x = (points: number) => left + ((right - left) * points) / maxScore;
  const thresholdLines = lines.flatMap(({ at }) =>
    at > 0 && at <= maxScore
      ? [
          markup`<path class="bar" d="M${round(x(at - 0.5))} 18V${round(bottom)}"/><text class="axis" x="${round(x(at - 0.5))}" y="12" text-anchor="middle">${at}</text>`,
        ]
      : [],
  );
  // If a mark would be too small, all papers with a score are one bar.
  const marks = [...piles].flatMap(([at, pile]) =>
    step < 4
      ? [
          markup`<rect class="presented" x="${round(x(at) - 4)}" y="${round(bottom - pile.length * step)}" width="8" height="${round(pile.length * step)}"><title>${counted(pile.length, "paper")} with ${at} points</title></rect>`,
        ]
      : pile.map((paper, index) =>
          linked(
            paper,
            mark(
              paper.status,
              x(at),
              bottom - 6 - index * step,
              Math.min(5, step / 2, (right - left) / (2 * maxScore + 2)),
            ),
          ),
        ),
  );
  const ticks = Array.from({ length: maxScore / 5 + 1 }, (_, index) => index * 5).map(
    (at) =>
      markup`<text class="tick" x="${round(x(at))}" y="${round(bottom + 17)}" text-anchor="${at === 0 ? "start" : at === maxScore ? "end" : "middle"}">${at}</text>`,
  );
  return {
    height: bottom + 24,
    parts: markup`<path class="grid" d="M${left} ${round(bottom)}H${right}"/>${thresholdLines}${ticks}${marks}`,
  };
}
