import { type Markup, markup } from "../../../engine/lib/markup.js";
import type { FlowBox, FlowStep } from "../prisma-flow.js";
import { type Drawing, figure } from "./picture.js";
import { round, thousands, wrapText } from "./words.js";

/** Font size in pixels. */
const fontSize = 13;
/** How much wider the widest common font is in bold than `wrapText` assumes. */
const boldWidth = 1.2;
const lineHeight = 18;
const padding = 11;
/** The vertical distance between two boxes. */
const gap = 24;

interface PlacedBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A row of a PRISMA flow diagram, from identified to included records. `caption`: the text below it. */
export function flowPicture(steps: readonly FlowStep[], caption: string): Markup {
  const stepTexts = steps.map(({ box, sideBox }) =>
    [box, ...(sideBox === undefined ? [] : [sideBox])].map(({ label, count }) => `${label}: ${count}`).join("; "),
  );
  return figure(`Flow of records. ${stepTexts.join(". ")}.`, caption, (width) => draw(steps, width));
}

function draw(steps: readonly FlowStep[], width: number): Drawing {
  const isNarrow = width < 500;
  const stageColumn = isNarrow ? 0 : 26;
  const distance = isNarrow ? 20 : 56;
  const mainWidth = isNarrow ? width - 2 : Math.round((width - stageColumn - distance) * 0.48);
  const sideWidth = isNarrow ? width - 42 : width - stageColumn - distance - mainWidth - 1;
  const parts: Markup[] = [];
  const stages = new Map<string, [top: number, bottom: number]>();
  let y = 1;
  for (const [index, step] of steps.entries()) {
    const boxText = textOf(step.box, mainWidth);
    const sideText = step.sideBox && textOf(step.sideBox, sideWidth);
    const box: PlacedBox = { x: stageColumn, y, width: mainWidth, height: heightOf(boxText) };
    const isLast = index === steps.length - 1;
    parts.push(boxOf(box, boxText, isLast ? "box end" : "box"));
    let bottom = y + box.height;
    if (sideText !== undefined) {
      const sideBox: PlacedBox = {
        x: isNarrow ? 41 : stageColumn + mainWidth + distance,
        y: isNarrow ? bottom + 12 : y,
        width: sideWidth,
        height: heightOf(sideText),
      };
      parts.push(boxOf(sideBox, sideText, "box off"));
      const middle = sideBox.y + Math.min(box.height, sideBox.height) / 2;
      parts.push(
        isNarrow ? arrow(20, middle, sideBox.x, middle) : arrow(stageColumn + mainWidth, middle, sideBox.x, middle),
      );
      bottom = Math.max(bottom, sideBox.y + sideBox.height);
    }
    const stage = stages.get(step.stage);
    stages.set(step.stage, [stage?.[0] ?? y, bottom]);
    if (!isLast) {
      const x = isNarrow ? 20 : stageColumn + mainWidth / 2;
      parts.push(arrow(x, y + box.height, x, bottom + gap));
      y = bottom + gap;
    } else y = bottom;
  }
  if (!isNarrow)
    for (const [stage, [top, bottom]] of stages) {
      // A name that is longer than its boxes are high is left out.
      if (bottom - top + gap < stage.length * 6.6) continue;
      const middle = round((top + bottom) / 2);
      parts.push(
        markup`<text class="axis" transform="translate(12 ${middle}) rotate(-90)" text-anchor="middle">${stage.replace(/^./, (letter) => letter.toUpperCase())}</text>`,
      );
    }
  return { height: y + 2, parts };
}

interface Lines {
  readonly heading: readonly string[];
  readonly rest: readonly string[];
}

const textOf = ({ label, count, lines }: FlowBox, width: number): Lines => ({
  // The count stays in one piece: without its end it would be another number.
  heading: wrapText(`${label} (n_=_${thousands(count)})`, width - 2 * padding, fontSize * boldWidth, 3).map((line) =>
    line.replace("(n_=_", "(n = "),
  ),
  rest: lines.flatMap((line) => wrapText(`${thousands(line.count)} ${line.label}`, width - 2 * padding, fontSize, 2)),
});

const heightOf = ({ heading, rest }: Lines): number => (heading.length + rest.length) * lineHeight + 2 * padding - 3;

const boxOf = ({ x, y, width, height }: PlacedBox, { heading, rest }: Lines, kind: string): Markup =>
  markup`<g class="${kind}"><rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="5"/>${[...heading, ...rest].map((line, index) => markup`<text${index < heading.length ? markup` class="strong"` : ""} x="${round(x + padding)}" y="${round(y + padding + 11 + index * lineHeight)}">${line}</text>`)}</g>`;

/** An arrow between two points, horizontal or vertical. */
function arrow(x1: number, y1: number, x2: number, y2: number): Markup {
  const [fromX, fromY, toX, toY] = [x1, y1, x2, y2].map(round) as [number, number, number, number];
  const isDown = x1 === x2;
  const tip = isDown ? `M${toX - 4} ${toY - 7}h8l-4 6z` : `M${toX - 7} ${toY - 4}v8l6-4z`;
  return markup`<path class="arrow" d="M${fromX} ${fromY}${isDown ? `V${toY - 6}` : `H${toX - 6}`}"/><path class="tip" d="${tip}"/>`;
}
