import { type Markup, markup } from "../../../engine/lib/markup.js";
import { type Drawing, statuses, figure, anchorOf, legendOf, mark } from "./picture.js";
import type { PaperLink } from "../links.js";
import type { PaperRow } from "../papers.js";
import { type Box, counted, placedLabels, round, shortened, thousands } from "./words.js";

export type MappedPaper = Pick<PaperRow, "id" | "title" | "status" | "score">;

const maxNames = 26;
/** With fewer papers, there is no map. */
export const minMapped = 4;

/**
 * The map of related papers; undefined for fewer than four. The same records give the same map. `linkCount`: the number
 * of all links of these papers.
 */
export function mapPicture(
  papers: readonly MappedPaper[],
  links: readonly PaperLink[],
  maxScore: number,
  linkCount = links.length,
): Markup | undefined {
  if (papers.length < minMapped) return undefined;
  const hasScores = papers.some(({ score = 0 }) => score > 0);
  const caption = `${counted(papers.length, "paper")} joined by ${counted(linkCount, "link")}. A link is a shared tag (a rare tag counts more), a cross-reference or a citation. Each paper shows its three strongest links${links.length < linkCount ? `, ${thousands(links.length)} in all` : ""}. ${hasScores ? "A larger sign has more points. " : ""}Select a sign to go to its paper.`;
  const nodes = papers.map(({ score = 0, ...paper }) => ({
    ...paper,
    scoreShare: Math.max(0, Math.min(1, score / (maxScore || 1))),
  }));
  const kinds = statuses.filter((kind) => papers.some(({ status }) => status === kind));
  const positions = computeLayout(nodes, links);
  return figure(caption, caption, (width) => draw(nodes, positions, links, width), legendOf(kinds));
}

interface Node extends Omit<MappedPaper, "score"> {
  /** The paper's score divided by the maximum, 0 to 1. */
  readonly scoreShare: number;
}

/** The position of a paper, 0 to 1 from left and from top. */
interface Place {
  readonly x: number;
  readonly y: number;
}

/** The margin between marks and the sides of the picture. */
const margin = 14;

function draw(
  nodes: readonly Node[],
  positions: readonly Place[],
  edges: readonly PaperLink[],
  width: number,
): Drawing {
  const isNarrow = width < 500;
  const height = Math.round(width * (isNarrow ? 1.15 : 0.62) * Math.min(1, 0.55 + nodes.length / 50));
  const radiusOf = ({ scoreShare }: Node) => (isNarrow ? 3.5 : 4) + 5 * scoreShare;
  const places = positions.map(({ x, y }) => ({
    x: margin + x * (width - 2 * margin),
    y: margin + y * (height - 2 * margin),
  }));
  const placeOf = new Map(nodes.map(({ id }, index) => [id, places[index] ?? { x: 0, y: 0 }]));
  const maxWeight = Math.max(...edges.map(({ weight }) => weight), 1e-9);
  const lines = edges.map(({ from, to, weight, because }) => {
    const [a, b] = [placeOf.get(from), placeOf.get(to)];
    return a && b
      ? markup`<path class="edge" stroke-width="${round(0.7 + (2.3 * weight) / maxWeight)}" d="M${round(a.x)} ${round(a.y)}L${round(b.x)} ${round(b.y)}"><title>${because.join(", ")}</title></path>`
      : "";
  });
  const placed = nodes.map((node, index) => ({ node, ...(places[index] ?? { x: 0, y: 0 }), size: radiusOf(node) }));
  const occupied = placed.map(({ x, y, size }): Box => [x - size - 1, y - size - 1, x + size + 1, y + size + 1]);
  const labels = placed
    .toSorted((a, b) => b.node.scoreShare - a.node.scoreShare)
    .slice(0, isNarrow ? 12 : maxNames)
    .map(({ node, x, y, size }) => ({ text: shortened(node.title, isNarrow ? 115 : 178, 12), x, y, radius: size }));
  return {
    height,
    parts: markup`${lines}${placed.map(({ node, x, y, size }) => markup`<a href="#${anchorOf(node.id)}">${mark(node.status, x, y, size)}<title>${shortened(node.title, 1200, 12)}</title></a>`)}${placedLabels(labels, occupied, [0, 0, width, height])}`,
  };
}

const steps = 120;
/** The angle between two positions of the spiral, in radians. With this angle, positions are spread evenly. */
const goldenAngle = 2.399963;
/** The size of the layout before it is scaled to the picture. */
const [width, height] = [720, 450];

/**
 * Computes the layout as a simulation of forces (Fruchterman and Reingold 1991): links pull papers together, all papers
 * push each other away, and all are pulled to the centre. The steps decrease. The layout starts from a spiral, not from
 * random positions, so that the same papers always have the same positions. It is computed once for all pictures, and
 * with typed arrays, because otherwise it would take much of the time of a page.
 */
function computeLayout(nodes: readonly Node[], edges: readonly PaperLink[]): Place[] {
  const count = nodes.length;
  const idealDistance = Math.sqrt((width * height) / count) * 0.75;
  const [xs, ys, fx, fy] = [0, 1, 2, 3].map(() => new Float64Array(count)) as [Values, Values, Values, Values];
  for (let at = 0; at < count; at++) {
    const distance = Math.sqrt((at + 0.5) / count);
    const angle = at * goldenAngle;
    xs[at] = width / 2 + (width / 2) * 0.9 * distance * Math.cos(angle);
    ys[at] = height / 2 + (height / 2) * 0.9 * distance * Math.sin(angle);
  }
  const indexOfId = new Map(nodes.map(({ id }, at) => [id, at]));
  const maxWeight = Math.max(...edges.map(({ weight }) => weight), 1e-9);
  const springs = edges.flatMap(({ from, to, weight }) => {
    const [a, b] = [indexOfId.get(from), indexOfId.get(to)];
    return a === undefined || b === undefined ? [] : [{ a, b, pull: 0.1 + (0.12 * weight) / maxWeight }];
  });
  for (let step = 0; step < steps; step++) {
    for (let at = 0; at < count; at++) {
      fx[at] = (width / 2 - valueAt(xs, at)) * 0.06;
      fy[at] = (height / 2 - valueAt(ys, at)) * 0.1;
    }
    for (let at = 0; at < count; at++) pushAway(xs, ys, fx, fy, at, 0.12 * idealDistance * idealDistance);
    for (const { a, b, pull } of springs) {
      const [dx, dy] = [valueAt(xs, a) - valueAt(xs, b), valueAt(ys, a) - valueAt(ys, b)];
      const force = (Math.sqrt(dx * dx + dy * dy) / idealDistance) * pull;
      fx[a] = valueAt(fx, a) - dx * force;
      fy[a] = valueAt(fy, a) - dy * force;
      fx[b] = valueAt(fx, b) + dx * force;
      fy[b] = valueAt(fy, b) + dy * force;
    }
    const maxStep = Math.max(1, (width / 8) * (1 - step / steps));
    for (let at = 0; at < count; at++) {
      const [forceX, forceY] = [valueAt(fx, at), valueAt(fy, at)];
      const strength = Math.sqrt(forceX * forceX + forceY * forceY) || 1;
      const scale = Math.min(maxStep, strength) / strength;
      xs[at] = valueAt(xs, at) + forceX * scale;
      ys[at] = valueAt(ys, at) + forceY * scale;
    }
  }
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  return nodes.map((_, at) => ({
    x: (valueAt(xs, at) - left) / (right - left || 1),
    y: (valueAt(ys, at) - top) / (bottom - top || 1),
  }));
}

type Values = Float64Array;

const valueAt = (values: Values, at: number): number => values[at] ?? 0;

/**
 * Pushes a paper and all later papers away from each other. This is a separate function that calls few others, so that
 * the JavaScript engine compiles it early.
 */
function pushAway(xs: Values, ys: Values, fx: Values, fy: Values, at: number, strength: number): void {
  const [x, y] = [valueAt(xs, at), valueAt(ys, at)];
  let [pushedX, pushedY] = [0, 0];
  for (let other = at + 1; other < xs.length; other++) {
    // Papers need more horizontal than vertical distance, because of their titles.
    const dx = (x - (xs[other] as number)) * 0.75 || 0.01 * (at - other);
    const dy = y - (ys[other] as number) || 0.01;
    const squaredDistance = dx * dx + dy * dy;
    const force = squaredDistance > 1 ? strength / squaredDistance : strength;
    pushedX += dx * force;
    pushedY += dy * force;
    (fx[other] as number) -= dx * force;
    (fy[other] as number) -= dy * force;
  }
  fx[at] = valueAt(fx, at) + pushedX;
  fy[at] = valueAt(fy, at) + pushedY;
}
