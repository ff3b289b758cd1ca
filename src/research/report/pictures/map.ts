import { type Markup, markup } from "../../../engine/lib/markup.js";
import { type Drawing, statuses, figure, anchorOf, legendOf, mark } from "./picture.js";
import { type PaperStatus } from "../papers.js";
import { type Box, counted, placedLabels, round, shortened } from "./words.js";

export interface MappedPaper {
  readonly id: string;
  readonly title: string;
  readonly status: PaperStatus;
  readonly score?: number;
}

/** What joins two papers: tags that both have, a cross-reference, a citation. The rarer, the more it weighs. */
export interface PaperLink {
  readonly from: string;
  readonly to: string;
  readonly weight: number;
  readonly because: readonly string[];
}

const mostNames = 26;

/**
 * How papers belong together, of so many as can be told apart; undefined below four. `full` is the most points a paper
 * can have. The same records give the same map.
 */
export function mapPicture(
  papers: readonly MappedPaper[],
  links: readonly PaperLink[],
  full: number,
): Markup | undefined {
  if (papers.length < 4) return undefined;
  const caption = `${counted(papers.length, "paper")} joined by ${counted(links.length, "link")}: tags that they share, the rarer the stronger, cross-references and citations. Each paper shows its three strongest. A larger sign has more points; select one to go to its paper.`;
  const nodes = papers.map(({ score = 0, ...paper }) => ({
    ...paper,
    share: Math.max(0, Math.min(1, score / (full || 1))),
  }));
  const kinds = statuses.filter((kind) => papers.some(({ status }) => status === kind));
  return figure(caption, caption, (width) => draw(nodes, links, width), legendOf(kinds));
}

interface Node extends Omit<MappedPaper, "score"> {
  /** 0 to 1: its points of those there are. */
  readonly share: number;
}

interface Place {
  x: number;
  y: number;
}

function draw(nodes: readonly Node[], edges: readonly PaperLink[], width: number): Drawing {
  const isNarrow = width < 500;
  const height = Math.round(width * (isNarrow ? 1.15 : 0.62) * Math.min(1, 0.55 + nodes.length / 50));
  const reach = ({ share }: Node) => (isNarrow ? 3.5 : 4) + 5 * share;
  const places = laidOut(nodes, edges, width, height);
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

const rounds = 300;

/**
 * Springs along the links, a push between all papers, and a pull to the middle, cooled down step by step (Fruchterman
 * and Reingold 1991). It starts on a sunflower's spiral instead of at random places, so that the same papers always lie
 * the same way.
 */
function laidOut(nodes: readonly Node[], edges: readonly PaperLink[], width: number, height: number): Place[] {
  const index = new Map(nodes.map(({ id }, at) => [id, at]));
  const ideal = Math.sqrt((width * height) / nodes.length) * 0.75;
  const places = nodes.map((_, at): Place => {
    const far = Math.sqrt((at + 0.5) / nodes.length);
    return {
      x: width / 2 + (width / 2) * 0.9 * far * Math.cos(at * 2.399963),
      y: height / 2 + (height / 2) * 0.9 * far * Math.sin(at * 2.399963),
    };
  });
  const heaviest = Math.max(...edges.map(({ weight }) => weight), 1e-9);
  for (let step = 0; step < rounds; step++) {
    const forces = places.map(({ x, y }): Place => ({ x: (width / 2 - x) * 0.06, y: (height / 2 - y) * 0.1 }));
    for (const [at, place] of places.entries())
      for (let other = at + 1; other < places.length; other++) {
        const [there, mine, theirs] = [places[other], forces[at], forces[other]];
        if (!there || !mine || !theirs) continue;
        // Sideways they need more room than up and down: that is where their names stand.
        const [dx, dy] = [(place.x - there.x) * 0.75 || 0.01 * (at - other), place.y - there.y || 0.01];
        const push = (ideal * ideal) / Math.max(dx * dx + dy * dy, 1);
        mine.x += dx * push * 0.12;
        mine.y += dy * push * 0.12;
        theirs.x -= dx * push * 0.12;
        theirs.y -= dy * push * 0.12;
      }
    for (const { from, to, weight } of edges) {
      const [a = -1, b = -1] = [index.get(from), index.get(to)];
      const [one, two, mine, theirs] = [places[a], places[b], forces[a], forces[b]];
      if (!one || !two || !mine || !theirs) continue;
      const [dx, dy] = [one.x - two.x, one.y - two.y];
      const pull = (Math.hypot(dx, dy) / ideal) * (0.1 + (0.12 * weight) / heaviest);
      mine.x -= dx * pull;
      mine.y -= dy * pull;
      theirs.x += dx * pull;
      theirs.y += dy * pull;
    }
    const most = Math.max(1, (width / 8) * (1 - step / rounds));
    for (const [at, place] of places.entries()) {
      const force = forces[at] ?? { x: 0, y: 0 };
      const strength = Math.hypot(force.x, force.y) || 1;
      place.x += (force.x * Math.min(most, strength)) / strength;
      place.y += (force.y * Math.min(most, strength)) / strength;
    }
  }
  const side = 14;
  const [left, right] = [Math.min(...places.map(({ x }) => x)), Math.max(...places.map(({ x }) => x))];
  const [top, bottom] = [Math.min(...places.map(({ y }) => y)), Math.max(...places.map(({ y }) => y))];
  const fit = (value: number, from: number, to: number, room: number) =>
    side + ((value - from) / (to - from || 1)) * (room - 2 * side);
  return places.map(({ x, y }) => ({ x: fit(x, left, right, width), y: fit(y, top, bottom, height) }));
}
