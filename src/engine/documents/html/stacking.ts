import { colourOf } from "./colour.js";

type Declarations = ReadonlyMap<string, string>;

/** What lies over an element, or between it and its reader. */
export interface Stacking {
  /** What covers it, and whether that comes after it in the page. */
  readonly cover: { readonly level: number; readonly isLater: boolean } | undefined;
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

/** How an element stands to its reader, given how the element around it does. */
export function stackingOf(style: Declarations, above: Stacking, isPage: boolean): Stacking & { isBehind: boolean } {
  const isPlaced = isPositioned(style);
  const level = levelOf(style);
  const { cover } = above;
  const isRaised =
    isPlaced && cover !== undefined && (level > cover.level || (level === cover.level && !cover.isLater));
  return {
    cover: isRaised ? undefined : cover,
    isBacked: !isContext(style) && (above.isBacked || (!isPage && isOpaque(style))),
    isBehind: isPlaced && level < 0 && above.isBacked,
  };
}

/** How the children of a placed element stand, of which one may cover the others. */
export function childrenUnder(
  covers: readonly (Declarations | undefined)[],
  parent: Declarations,
  stacking: Stacking,
): (index: number) => Stacking {
  const at = isPositioned(parent) ? covers.findLastIndex((each) => each !== undefined) : -1;
  const level = levelOf(covers[at] ?? new Map());
  return (index) =>
    at === -1 || index === at || stacking.cover !== undefined
      ? stacking
      : { ...stacking, cover: { level, isLater: index < at } };
}
