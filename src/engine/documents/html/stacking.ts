import { colourOf } from "./colour.js";
import type { Node } from "./select.js";

type Declarations = ReadonlyMap<string, string>;

/** An element that lies over others, or the ground of their surroundings that they are set behind. */
interface Cover {
  readonly node: Node | undefined;
  readonly level: number;
  /** Its place among the nodes of the page. */
  readonly order: number;
}

/** What lies over an element, or between it and its reader. */
export interface Stacking {
  readonly cover: Cover | undefined;
  /** Whether what is set behind stands behind a ground of its surroundings. */
  readonly isBacked: boolean;
}

export const onTop: Stacking = { cover: undefined, isBacked: false };

const isPositioned = (style: Declarations): boolean =>
  /^(?:relative|absolute|fixed|sticky)$/.test(style.get("position") ?? "");
const levelOf = (style: Declarations): number => {
  const level = style.get("z-index") ?? "";
  return /^[-+]?\d{1,10}$/.test(level) ? Number(level) : 0;
};

/** Whether a plain ground lets nothing shine through. */
function isOpaque(style: Declarations): boolean {
  const painted = style.get("background-color") ?? style.get("background") ?? "";
  const colour = colourOf(painted);
  const opacity = style.get("opacity");
  return (
    colour !== undefined &&
    colour[3] >= 0.95 &&
    (opacity === undefined || Number.parseFloat(opacity) >= 0.95) &&
    !style.has("mix-blend-mode") &&
    !style.has("background-image")
  );
}

/** Whether an element makes those within it stand before or behind each other alone. */
const isContext = (style: Declarations): boolean =>
  /^[-+]?\d/.test(style.get("z-index") ?? "") ||
  /^(?:fixed|sticky)$/.test(style.get("position") ?? "") ||
  ["opacity", "transform", "translate", "scale", "filter", "isolation", "mix-blend-mode", "animation"].some((name) =>
    style.has(name),
  );

/** Whether an element lies over the whole of the one it is placed in. */
export function isCover(style: Declarations): boolean {
  const isShown = style.get("display") !== "none" && !/^(?:hidden|collapse)$/.test(style.get("visibility") ?? "");
  if (!isShown || style.get("position") !== "absolute" || levelOf(style) < 0 || !isOpaque(style)) return false;
  const sides = (style.get("inset") ?? "").split(" ");
  const atEdge = (name: string, index: number): boolean => {
    const side = style.get(name) ?? [sides[index], sides[index - 2], sides[0]].find((each) => each !== undefined);
    return /^(?:0(?:px|%|r?em)?|-[\d.]{1,6}(?:px|%|r?em))$/.test(side ?? "");
  };
  const fills = (name: string): boolean => /^[1-9]\d\d{1,3}%$|^100v[wh]$/.test(style.get(name) ?? "");
  const [top, right, bottom, left] = ["top", "right", "bottom", "left"].map(atEdge);
  return top === true && left === true && (right === true || fills("width")) && (bottom === true || fills("height"));
}

/** How an element stands to its reader, given how the one around it does and its place among the nodes of the page. */
export function stackingOf(
  style: Declarations,
  above: Stacking,
  { isPage, order }: { readonly isPage: boolean; readonly order: number },
): Stacking & { isBehind: boolean } {
  const isPlaced = isPositioned(style);
  const level = levelOf(style);
  const { cover } = above;
  const isRaised =
    isPlaced && cover !== undefined && (level > cover.level || (level === cover.level && order > cover.order));
  return {
    cover: isRaised ? undefined : cover,
    isBacked: !isContext(style) && (above.isBacked || (!isPage && isOpaque(style))),
    isBehind: isPlaced && level < 0 && above.isBacked,
  };
}

/** Under a ground of its surroundings. */
export const buried: Cover = { node: undefined, level: 0, order: Number.POSITIVE_INFINITY };

export interface Covers {
  /** For each placed element, what lies over all that is in it. */
  readonly within: ReadonlyMap<Node, Cover>;
  /** What was moved up over an element that stands before it. */
  readonly movedOver: ReadonlyMap<Node, Cover>;
  /** The place of each element in the page. */
  readonly orderOf: (node: Node) => number;
}

/** Looks once for all that lies over others. `framesOf`: the styles of an element at the moments that count. */
export function coversOf(
  roots: readonly Node[],
  framesOf: (node: Node) => readonly Declarations[],
  isAway: (frames: readonly Declarations[]) => boolean,
): Covers {
  const within = new Map<Node, Cover>();
  const movedOver = new Map<Node, Cover>();
  const orders = new Map<Node, number>();
  const waiting = roots.map((node) => ({ node, placed: undefined as Node | undefined })).toReversed();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, placed } = next;
    if (!("attribs" in node)) continue;
    const order = orders.size;
    orders.set(node, order);
    const frames = framesOf(node);
    const [style = new Map<string, string>()] = frames;
    let holder = placed;
    if (style.size > 0 || "hidden" in node.attribs) {
      if ("hidden" in node.attribs || isAway(frames)) continue;
      if (placed !== undefined && frames.every(isCover)) within.set(placed, { node, level: levelOf(style), order });
      const up = movedUp(style);
      if (up > 0 && frames.every((each) => movedUp(each) > 0)) {
        const cover = { node, level: levelOf(style), order };
        for (const other of coveredBefore(node, up)) movedOver.set(other, cover);
      }
      if (isPositioned(style)) holder = node;
    }
    for (const child of (node.children as Node[]).toReversed()) waiting.push({ node: child, placed: holder });
  }
  return { within, movedOver, orderOf: (node) => orders.get(node) ?? -1 };
}

/** A line of text, in CSS pixels, and how many characters stand on it at the width that papers are set in. */
const [lineHeight, lineLength] = [24, 90];
/** Elements before one that was moved up that are looked at, and characters of them. */
const [maxBefore, maxCharacters] = [8, 4000];

/** By how many CSS pixels an element was moved up over what stands before it, on a ground of its own. */
function movedUp(style: Declarations): number {
  // The ground of what is not placed is painted below all text.
  if (!(isPositioned(style) || isContext(style)) || levelOf(style) < 0 || !isOpaque(style)) return 0;
  const upBy = (length: string | undefined): number => {
    const found = /^-(\d{1,5}(?:\.\d{1,4})?)(px|r?em|pt)?$/.exec(length ?? "");
    return found === null ? 0 : Number(found[1]) * ({ em: 16, rem: 16, pt: 4 / 3 }[found[2] ?? ""] ?? 1);
  };
  const isMoved = style.get("position") === "relative";
  const moved = /translate(?:y\(|(?:3d)?\([^(),]{1,20},)\s?(-[^\s(),]{1,20})/.exec(style.get("transform") ?? "")?.[1];
  return (
    upBy(style.get("margin-top") ?? style.get("margin")?.split(" ")[0]) +
    (isMoved ? upBy(style.get("top")) : 0) +
    upBy(moved)
  );
}

/** What stands right before an element and is not higher than so many CSS pixels, as far as that can be told. */
function coveredBefore(node: Node, height: number): Node[] {
  const covered: Node[] = [];
  let left = height;
  let at = node.prev as Node | null;
  for (let count = 0; at !== null && count < maxBefore; at = at.prev as Node | null) {
    if (!("attribs" in at)) continue;
    count += 1;
    const lines = Math.ceil(lengthOf(at) / lineLength);
    left -= lines * lineHeight;
    if (left < 0) break;
    if (lines > 0) covered.push(at);
  }
  return covered;
}

/** The characters in an element, counted up to a bound. */
function lengthOf(node: Node): number {
  let length = 0;
  const waiting = [node];
  for (let next = waiting.pop(); next !== undefined && length < maxCharacters; next = waiting.pop()) {
    if (next.type === "text") length += next.data.trim().length;
    else if ("children" in next) {
      length += 1;
      waiting.push(...(next.children.slice(0, maxCharacters) as Node[]));
    }
  }
  return length;
}
