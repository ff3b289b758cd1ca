import { type Markup, markup } from "../../../engine/lib/markup.js";
import { type Drawing, statuses, figure, anchorOf, legendOf, mark } from "./picture.js";
import type { PaperLink } from "../links.js";
import type { PaperRow } from "../papers.js";
import { type Box, counted, placedLabels, round, shortened } from "./words.js";

export type MappedPaper = Pick<PaperRow, "id" | "title" | "status" | "score">;

const mostNames = 26;
/** Fewer papers need no drawing. */
export const fewestMapped = 4;

/**
 * How papers belong together, of so many as can be told apart; undefined below four. `full` is the most points a paper
 * can have. The same records give the same map.
 */
export function mapPicture(
  papers: readonly MappedPaper[],
  links: readonly PaperLink[],
  full: number,
): Markup | undefined {
  if (papers.length < fewestMapped) return undefined;
  const caption = `${counted(papers.length, "paper")} joined by ${counted(links.length, "link")}: tags that they share, the rarer the stronger, cross-references and citations. Each paper shows its three strongest. A larger sign has more points; select one to go to its paper.`;
  const nodes = papers.map(({ score = 0, ...paper }) => ({
    ...paper,
    share: Math.max(0, Math.min(1, score / (full || 1))),
  }));
  const kinds = statuses.filter((kind) => papers.some(({ status }) => status === kind));
  const places = laidOut(nodes, links);
  return figure(caption, caption, (width) => draw(nodes, places, links, width), legendOf(kinds));
}

interface Node extends Omit<MappedPaper, "score"> {
  /** 0 to 1: its points of those there are. */
  readonly share: number;
}

/** Where a paper lies, 0 to 1 across and down. */
interface Place {
  readonly x: number;
  readonly y: number;
}

/** How far marks stay from the sides of a drawing. */
const side = 14;

function draw(nodes: readonly Node[], laid: readonly Place[], edges: readonly PaperLink[], width: number): Drawing {
  const isNarrow = width < 500;
  const height = Math.round(width * (isNarrow ? 1.15 : 0.62) * Math.min(1, 0.55 + nodes.length / 50));
  const reach = ({ share }: Node) => (isNarrow ? 3.5 : 4) + 5 * share;
  const places = laid.map(({ x, y }) => ({ x: side + x * (width - 2 * side), y: side + y * (height - 2 * side) }));
  const placeOf = new Map(nodes.map(({ id }, index) => [id, places[index] ?? { x: 0, y: 0 }]));
  const heaviest = Math.max(...edges.map(({ weight }) => weight), 1e-9);
  const lines = edges.map(({ from, to, weight, because }) => {
    const [a, b] = [placeOf.get(from), placeOf.get(to)];
    return a && b
      ? markup`<path class="edge" stroke-width="${round(0.7 + (2.3 * weight) / heaviest)}" d="M${round(a.x)} ${round(a.y)}L${round(b.x)} ${round(b.y)}"><title>${because.join(", ")}</title></path>`
      : "";
  });
  const spots = nodes.map((node, index) => ({ node, ...(places[index] ?? { x: 0, y: 0 }), size: reach(node) }));
  const taken = spots.map(({ x, y, size }): Box => [x - size - 1, y - size - 1, x + size + 1, y + size + 1]);
  const labels = spots
    .toSorted((a, b) => b.node.share - a.node.share)
    .slice(0, isNarrow ? 12 : mostNames)
    .map(({ node, x, y, size }) => ({ text: shortened(node.title, isNarrow ? 115 : 178, 12), x, y, reach: size }));
  return {
    height,
    parts: markup`${lines}${spots.map(({ node, x, y, size }) => markup`<a href="#${anchorOf(node.id)}">${mark(node.status, x, y, size)}<title>${shortened(node.title, 1200, 12)}</title></a>`)}${placedLabels(labels, taken, [0, 0, width, height])}`,
  };
}

const rounds = 120;
/** Where it is laid out, before it is stretched to a drawing. */
const [width, height] = [720, 450];

/**
 * Springs along the links, a push between all papers, and a pull to the middle, cooled down step by step (Fruchterman
 * and Reingold 1991). It starts on a sunflower's spiral instead of at random places, so that the same papers always lie
 * the same way. Done once for all drawings, with plain numbers in typed arrays: of a small page it is a tenth of the
 * time.
 */
function laidOut(nodes: readonly Node[], edges: readonly PaperLink[]): Place[] {
  const count = nodes.length;
  const ideal = Math.sqrt((width * height) / count) * 0.75;
  const [xs, ys, fx, fy] = [0, 1, 2, 3].map(() => new Float64Array(count)) as [Lane, Lane, Lane, Lane];
  for (let at = 0; at < count; at++) {
    const far = Math.sqrt((at + 0.5) / count);
    xs[at] = width / 2 + (width / 2) * 0.9 * far * Math.cos(at * 2.399963);
    ys[at] = height / 2 + (height / 2) * 0.9 * far * Math.sin(at * 2.399963);
  }
  const index = new Map(nodes.map(({ id }, at) => [id, at]));
  const heaviest = Math.max(...edges.map(({ weight }) => weight), 1e-9);
  const springs = edges.flatMap(({ from, to, weight }) => {
    const [a, b] = [index.get(from), index.get(to)];
    return a === undefined || b === undefined ? [] : [{ a, b, pull: 0.1 + (0.12 * weight) / heaviest }];
  });
  for (let step = 0; step < rounds; step++) {
    for (let at = 0; at < count; at++) {
      fx[at] = (width / 2 - get(xs, at)) * 0.06;
      fy[at] = (height / 2 - get(ys, at)) * 0.1;
    }
    for (let at = 0; at < count; at++) pushAway(xs, ys, fx, fy, at, 0.12 * ideal * ideal);
    for (const { a, b, pull } of springs) {
      const [dx, dy] = [get(xs, a) - get(xs, b), get(ys, a) - get(ys, b)];
      const force = (Math.sqrt(dx * dx + dy * dy) / ideal) * pull;
      fx[a] = get(fx, a) - dx * force;
      fy[a] = get(fy, a) - dy * force;
      fx[b] = get(fx, b) + dx * force;
      fy[b] = get(fy, b) + dy * force;
    }
    const most = Math.max(1, (width / 8) * (1 - step / rounds));
    for (let at = 0; at < count; at++) {
      const [x, y] = [get(fx, at), get(fy, at)];
      const strength = Math.sqrt(x * x + y * y) || 1;
      const share = Math.min(most, strength) / strength;
      xs[at] = get(xs, at) + x * share;
      ys[at] = get(ys, at) + y * share;
    }
  }
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  return nodes.map((_, at) => ({
    x: (get(xs, at) - left) / (right - left || 1),
    y: (get(ys, at) - top) / (bottom - top || 1),
  }));
}

type Lane = Float64Array;

const get = (lane: Lane, at: number): number => lane[at] ?? 0;

/**
 * One pushes those behind it away, and is pushed as much by each. By itself, so that it is soon compiled; and without
 * calls, which are most of its time until it is.
 */
function pushAway(xs: Lane, ys: Lane, fx: Lane, fy: Lane, at: number, strength: number): void {
  const [x, y] = [get(xs, at), get(ys, at)];
  let [pushedX, pushedY] = [0, 0];
  for (let other = at + 1; other < xs.length; other++) {
    // Sideways they need more room than up and down: that is where their names stand.
    const dx = (x - (xs[other] as number)) * 0.75 || 0.01 * (at - other);
    const dy = y - (ys[other] as number) || 0.01;
    const square = dx * dx + dy * dy;
    const force = square > 1 ? strength / square : strength;
    pushedX += dx * force;
    pushedY += dy * force;
    (fx[other] as number) -= dx * force;
    (fy[other] as number) -= dy * force;
  }
  fx[at] = get(fx, at) + pushedX;
  fy[at] = get(fy, at) + pushedY;
}
