import { type Markup, markup } from "../../../engine/lib/markup.js";
import type { SaturationPoint, SourceYield } from "../search-yield.js";
import { type Drawing, figure } from "./picture.js";
import { boxesAlong, counted, placedLabels, round, shortened, thousands, textWidth } from "./words.js";

/** The counts of a source that its bar shows. */
type BarCounts = Pick<SourceYield, "name" | "identified" | "papers">;

const maxSources = 14;

/** The number of papers from each source; undefined for fewer than two sources. */
export function yieldPicture(sources: readonly BarCounts[]): Markup | undefined {
  if (sources.length < 2) return undefined;
  const ranked = sources.toSorted((a, b) => b.papers - a.papers || (b.identified ?? 0) - (a.identified ?? 0));
  const shown = ranked.slice(0, maxSources);
  const hiddenCount = ranked.length - shown.length;
  const hasCounts = ranked.some(({ identified }) => identified !== undefined);
  const ofRecords = hasCounts ? ", of all records that it returned" : "";
  const hiddenText =
    hiddenCount > 0
      ? ` ${counted(hiddenCount, "source with fewer papers is", "sources with fewer papers are")} not shown.`
      : "";
  const caption = `The number of papers in the pool that each source found${ofRecords}.${hiddenText}`;
  const amount = ({ papers, identified }: BarCounts) =>
    identified === undefined ? thousands(papers) : `${thousands(papers)} of ${thousands(identified)}`;
  const description = `${caption} ${shown.map((source) => `${source.name}: ${amount(source)}`).join(", ")}.`;
  return figure(description, caption, (width) => {
    const nameWidth = width < 500 ? 104 : 170;
    const maxBarWidth = width - nameWidth - Math.max(...shown.map((source) => textWidth(amount(source), 12))) - 16;
    const maxPapers = Math.max(1, ...shown.map(({ papers }) => papers));
    const rows = shown.map((source, index) => {
      const y = 4 + index * 26;
      const barWidth = round((source.papers / maxPapers) * maxBarWidth);
      return markup`<text class="name" x="0" y="${y + 14}">${shortened(source.name, nameWidth - 10, 12)}</text><rect class="plain" x="${nameWidth}" y="${y + 2}" width="${Math.max(1, barWidth)}" height="16" rx="2"/><text class="tick" x="${round(nameWidth + barWidth + 8)}" y="${y + 14}">${amount(source)}</text>`;
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
  const recallText =
    lastRecall === undefined
      ? ""
      : ` The dashed line is the recall that was reached at least: ${Math.round(lastRecall * 100)} %`;
  const targetText = target === undefined ? "." : `; ${Math.round(target * 100)} % was asked for.`;
  const caption = [
    `Saturation: ${thousands(kept)} of ${counted(screened, "screened record")} kept; the last batch kept ${kept - previous.kept} of ${screened - previous.screened}.`,
    recallText,
    recallText === "" ? "" : targetText,
  ].join("");
  return figure(caption, caption, (width) => draw(points, recalls, screened, kept, target, width));
}

/** The points of a curve: the number of screened records, and a share from 0 to 1. */
type Curve = readonly (readonly [screened: number, share: number])[];

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
  const x = (screenedCount: number) => round(left + ((right - left) * screenedCount) / screened);
  const y = (share: number) => round(bottom - (bottom - top) * share);
  const path = (curve: Curve) =>
    curve.map(([count, share], index) => `${index === 0 ? "M" : "L"}${x(count)} ${y(share)}`).join("");
  const maxKept = Math.max(kept, 1);
  const labels = [
    { text: `${thousands(kept)} kept`, x: x(screened), y: y(kept / maxKept), radius: 4 },
    ...recalls
      .slice(-1)
      .map(({ screened: count, recall }) => ({
        text: `recall ≥ ${Math.round(recall * 100)} %`,
        x: x(count),
        y: y(recall),
        radius: 4,
      })),
  ];
  const keptCurve: Curve = points.map((point) => [point.screened, point.kept / maxKept]);
  const recallCurve: Curve = recalls.map((point) => [point.screened, point.recall]);
  const curveBoxes = [keptCurve, recallCurve].flatMap((curve) =>
    curve.slice(1).flatMap((end, index) => {
      const [from, to] = [curve[index] ?? end, end].map(([count, share]) => [x(count), y(share)] as const);
      return from === undefined || to === undefined ? [] : boxesAlong(from, to);
    }),
  );
  const axes = [
    markup`<path class="grid" d="M${left} ${top}V${bottom}H${right}"/>`,
    markup`<text class="tick" x="${left - 6}" y="${y(1) + 4}" text-anchor="end">${maxKept}</text>`,
    markup`<text class="tick" x="${left - 6}" y="${bottom + 4}" text-anchor="end">0</text>`,
    markup`<text class="tick" x="${left}" y="${bottom + 17}" text-anchor="middle">0</text>`,
    markup`<text class="tick" x="${right}" y="${bottom + 17}" text-anchor="end">${thousands(screened)}</text>`,
    markup`<text class="axis" x="${round((left + right) / 2)}" y="${bottom + 36}" text-anchor="middle">Records screened</text>`,
  ];
  const targetLine = target === undefined ? "" : markup`<path class="grid" d="M${left} ${y(target)}H${right}"/>`;
  const recallParts =
    recalls.length === 0
      ? ""
      : [
          markup`<text class="tick" x="${right + 6}" y="${y(1) + 4}">100 %</text>`,
          markup`<text class="tick" x="${right + 6}" y="${bottom + 4}">0 %</text>`,
          targetLine,
          markup`<path class="curve second" d="${path(recallCurve)}"/>`,
        ];
  // With many batches, only the last one has a mark.
  const markedPoints = points.slice(1).filter((_, index) => points.length < 60 || index === points.length - 2);
  const marks = markedPoints.map(
    (point) => markup`<circle class="plain" cx="${x(point.screened)}" cy="${y(point.kept / maxKept)}" r="2.5"/>`,
  );
  return {
    height: bottom + 42,
    parts: markup`${axes}${recallParts}<path class="curve" d="${path(keptCurve)}"/>${marks}${placedLabels(labels, curveBoxes, [left, 0, right, bottom])}`,
  };
}
