import { type Markup, markup } from "../../../engine/lib/markup.js";
import type { SaturationPoint, SourceYield as Yield } from "../search-yield.js";
import { type Drawing, figure } from "./picture.js";
import { boxesAlong, counted, placedLabels, round, shortened, thousands, textWidth } from "./words.js";

type SourceYield = Pick<Yield, "name" | "identified" | "papers">;

const maxSources = 14;

/** The number of papers from each source; undefined for fewer than two sources. */
export function yieldPicture(sources: readonly SourceYield[]): Markup | undefined {
  if (sources.length < 2) return undefined;
  const ranked = sources.toSorted((a, b) => b.papers - a.papers || (b.identified ?? 0) - (a.identified ?? 0));
  const shown = ranked.slice(0, maxSources);
  const hiddenCount = ranked.length - shown.length;
  const hasCounts = ranked.some(({ identified }) => identified !== undefined);
  const caption = `Yield of the sources: papers of the pool that each found${hasCounts ? ", of the records it gave" : ""}.${
    hiddenCount > 0 ? ` ${counted(hiddenCount, "source")} with less left out.` : ""
  }`;
  const amount = ({ papers, identified }: SourceYield) =>
    identified === undefined ? thousands(papers) : `${thousands(papers)} of ${thousands(identified)}`;
  const description = `${caption} ${shown.map((one) => `${one.name}: ${amount(one)}`).join(", ")}.`;
  return figure(description, caption, (width) => {
    const nameWidth = width < 500 ? 104 : 170;
    const maxBarWidth = width - nameWidth - Math.max(...shown.map((one) => textWidth(amount(one), 12))) - 16;
    const maxPapers = Math.max(1, ...shown.map(({ papers }) => papers));
    const rows = shown.map((one, index) => {
      const y = 4 + index * 26;
      const barWidth = round((one.papers / maxPapers) * maxBarWidth);
      return markup`<text class="name" x="0" y="${y + 14}">${shortened(one.name, nameWidth - 10, 12)}</text><rect class="plain" x="${nameWidth}" y="${y + 2}" width="${Math.max(1, barWidth)}" height="16" rx="2"/><text class="tick" x="${round(nameWidth + barWidth + 8)}" y="${y + 14}">${amount(one)}</text>`;
    });
    return { height: 4 + shown.length * 26, parts: rows };
  });
}

/** The number of kept records during screening, and the recall; undefined for fewer than two batches. */
export function saturationPicture(batches: readonly SaturationPoint[], target?: number): Markup | undefined {
  const [previous, last] = batches.slice(-2);
  if (previous === undefined || last === undefined || last.screened === 0) return undefined;
  const { screened, kept } = last;
  const points = [{ screened: 0, kept: 0 }, ...batches].map(({ recallAtLeast: recall, ...point }: SaturationPoint) => ({
    ...point,
    recall,
  }));
  const recalls = points.filter((point): point is typeof point & { recall: number } => point.recall !== undefined);
  const lastRecall = recalls.at(-1)?.recall;
  const caption = [
    `Saturation: ${thousands(kept)} of ${counted(screened, "screened record")} kept; the last batch kept ${kept - previous.kept} of ${screened - previous.screened}.`,
    lastRecall === undefined
      ? ""
      : ` The dashed line is the recall reached at least: ${Math.round(lastRecall * 100)} %`,
    lastRecall === undefined ? "" : target === undefined ? "." : `; ${Math.round(target * 100)} % was asked for.`,
  ].join("");
  return figure(caption, caption, (width) => draw(points, recalls, screened, kept, target, width));
}

interface Point {
  readonly screened: number;
  readonly kept: number;
}

function draw(
  points: readonly Point[],
  recalls: readonly (Point & { readonly recall: number })[],
  screened: number,
  kept: number,
  target: number | undefined,
  width: number,
): Drawing {
  const left = 34;
  const right = width - (recalls.length > 0 ? 44 : 12);
  const top = 14;
  const bottom = 190;
  const x = (value: number) => round(left + ((right - left) * value) / screened);
  const y = (share: number) => round(bottom - (bottom - top) * share);
  const path = (curve: readonly (readonly [number, number])[]) =>
    curve.map(([at, share], index) => `${index === 0 ? "M" : "L"}${x(at)} ${y(share)}`).join("");
  const maxKept = Math.max(kept, 1);
  const labels = [
    { text: `${thousands(kept)} kept`, x: x(screened), y: y(kept / maxKept), radius: 4 },
    ...recalls
      .slice(-1)
      .map(({ screened: at, recall }) => ({
        text: `recall ≥ ${Math.round(recall * 100)} %`,
        x: x(at),
        y: y(recall),
        radius: 4,
      })),
  ];
  const curves = [
    points.map((point) => [point.screened, point.kept / maxKept] as const),
    recalls.map(({ screened: at, recall }) => [at, recall] as const),
  ];
  const curveBoxes = curves.flatMap((curve) =>
    curve.slice(1).flatMap((end, index) => {
      const [from, to] = [curve[index] ?? end, end].map(([at, share]) => [x(at), y(share)] as const);
      return from === undefined || to === undefined ? [] : boxesAlong(from, to);
    }),
  );
  return {
    height: bottom + 42,
    parts: markup`<path class="grid" d="M${left} ${top}V${bottom}H${right}"/><text class="tick" x="${left - 6}" y="${y(1) + 4}" text-anchor="end">${maxKept}</text><text class="tick" x="${left - 6}" y="${bottom + 4}" text-anchor="end">0</text><text class="tick" x="${left}" y="${bottom + 17}" text-anchor="middle">0</text><text class="tick" x="${right}" y="${bottom + 17}" text-anchor="end">${thousands(screened)}</text><text class="axis" x="${round((left + right) / 2)}" y="${bottom + 36}" text-anchor="middle">Records screened</text>${recalls.length > 0 ? markup`<text class="tick" x="${right + 6}" y="${y(1) + 4}">100 %</text><text class="tick" x="${right + 6}" y="${bottom + 4}">0 %</text>${target === undefined ? "" : markup`<path class="grid" d="M${left} ${y(target)}H${right}"/>`}<path class="curve second" d="${path(curves[1] ?? [])}"/>` : ""}<path class="curve" d="${path(curves[0] ?? [])}"/>${points
      .slice(1)
      .filter((_, index) => points.length < 60 || index === points.length - 2)
      .map(
        (point) => markup`<circle class="plain" cx="${x(point.screened)}" cy="${y(point.kept / maxKept)}" r="2.5"/>`,
      )}${placedLabels(labels, curveBoxes, [left, 0, right, bottom])}`,
  };
}
