import type { Keyframes } from "./style-sheet.js";

type Declarations = ReadonlyMap<string, string>;

/** An animation that has not moved after so many seconds shows its reader where it began. */
const maxSeconds = 60;

/**
 * What an animation shows a reader of an element that is styled so: its beginning, where it stands still or lasts too
 * long; its end, where it stays there; each of its frames, where it is repeated without end; else what the element's
 * own style says.
 */
export function shownByAnimation(style: Declarations, keyframes: Keyframes): readonly Declarations[] {
  const shorthand = style.get("animation") ?? "";
  const of = (name: string): string => style.get(`animation-${name}`) ?? "";
  if (shorthand === "" && of("name") === "") return [style];
  const words = `${shorthand} ${of("name")}`.split(/[\s,]+/);
  const frames = words.map((word) => keyframes.get(word)).findLast((each) => each !== undefined);
  const [first, last] = [frames?.[0], frames?.at(-1)];
  if (frames === undefined || first === undefined || last === undefined) return [style];
  const times = shorthand.split(/[\s,]+/).flatMap(seconds);
  const duration = seconds(of("duration"))[0] ?? times[0] ?? 0;
  const delay = seconds(of("delay"))[0] ?? times[1] ?? 0;
  const says = (word: string): boolean =>
    words.includes(word) ||
    ["fill-mode", "play-state", "iteration-count", "direction"].some((name) =>
      of(name)
        .split(/[\s,]+/)
        .includes(word),
    );
  const isReversed = says("reverse") || says("alternate-reverse");
  const [beginning, end] = isReversed ? [last, first] : [first, last];
  const styled = (frame: Declarations): Declarations => new Map([...style, ...frame]);
  const isFilledBefore = says("backwards") || says("both");
  if (delay > maxSeconds || (says("paused") && delay > 0)) return [isFilledBefore ? styled(beginning) : style];
  if (says("paused") || duration > maxSeconds) return [styled(beginning)];
  if (says("infinite") && duration > 0) return frames.map(styled);
  return [says("forwards") || says("both") ? styled(end) : style];
}

function seconds(text: string): number[] {
  const found = /^([-+]?\d{0,12}\.?\d{0,12}(?:e\d{1,2})?)(m?s)$/.exec(text.split(",")[0]?.trim() ?? "");
  return found === null ? [] : [Number(found[1]) * (found[2] === "ms" ? 0.001 : 1)];
}
