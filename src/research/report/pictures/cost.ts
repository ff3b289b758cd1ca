import { type Markup, markup } from "../../../engine/lib/markup.js";
import { usdText } from "../../../engine/lib/words.js";
import { figure, anchorOf } from "./picture.js";
import { counted, round, shortened, textWidth } from "./words.js";

/** The cost of reading one paper, including refused attempts. */
export interface PaperCost {
  readonly id: string;
  readonly title: string;
  readonly usd: number;
}

const maxBars = 15;

/** The most expensive papers; undefined if no cost is known. */
export function costPicture(papers: readonly PaperCost[]): Markup | undefined {
  const ranked = papers.filter(({ usd }) => usd > 0).toSorted((a, b) => b.usd - a.usd);
  const median = ranked[Math.floor(ranked.length / 2)];
  if (ranked.length < 2 || median === undefined) return undefined;
  const shown = ranked.slice(0, maxBars);
  const totalUsd = ranked.reduce((sum, { usd }) => sum + usd, 0);
  const caption = `Cost of reading, by paper${ranked.length > shown.length ? `: the ${shown.length} most expensive of ${ranked.length}` : ""}. Median ${usdText(median.usd)}, together ${usdText(totalUsd)} for ${counted(ranked.length, "paper")}.`;
  return figure(caption, caption, (width) => {
    const nameWidth = width < 500 ? 150 : 330;
    const maxBarWidth = width - nameWidth - Math.max(...shown.map(({ usd }) => textWidth(usdText(usd), 12))) - 16;
    const maxUsd = shown[0]?.usd ?? 1;
    const rows = shown.map(({ id, title, usd }, index) => {
      const y = 4 + index * 24;
      const barWidth = Math.max(1, round((usd / maxUsd) * maxBarWidth));
      return markup`<a href="#${anchorOf(id)}"><text class="name" x="0" y="${y + 13}">${shortened(title, nameWidth - 12, 12)}</text></a><rect class="plain" x="${nameWidth}" y="${y + 1}" width="${barWidth}" height="15" rx="2"/><text class="tick" x="${round(nameWidth + barWidth + 8)}" y="${y + 13}">${usdText(usd)}</text>`;
    });
    return { height: 4 + shown.length * 24, parts: rows };
  });
}
