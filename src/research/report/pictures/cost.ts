import { type Markup, markup } from "../../../engine/lib/markup.js";
import { money } from "../../../engine/lib/words.js";
import { figure, anchorOf } from "./picture.js";
import { counted, round, shortened, widthOf } from "./words.js";

/** What reading one paper cost, refused attempts included. */
export interface PaperCost {
  readonly id: string;
  readonly title: string;
  readonly usd: number;
}

const mostBars = 15;

/** The dearest papers; undefined where nothing is known to have cost anything. */
export function costPicture(papers: readonly PaperCost[]): Markup | undefined {
  const ranked = papers.filter(({ usd }) => usd > 0).toSorted((a, b) => b.usd - a.usd);
  const middle = ranked[Math.floor(ranked.length / 2)];
  if (ranked.length < 2 || middle === undefined) return undefined;
  const shown = ranked.slice(0, mostBars);
  const all = ranked.reduce((sum, { usd }) => sum + usd, 0);
  const caption = `Cost of reading, by paper${ranked.length > shown.length ? `: the ${shown.length} most expensive of ${ranked.length}` : ""}. Median ${money(middle.usd)}, together ${money(all)} for ${counted(ranked.length, "paper")}.`;
  return figure(caption, caption, (width) => {
    const name = width < 500 ? 150 : 330;
    const room = width - name - Math.max(...shown.map(({ usd }) => widthOf(money(usd), 12))) - 16;
    const most = shown[0]?.usd ?? 1;
    const rows = shown.map(({ id, title, usd }, index) => {
      const y = 4 + index * 24;
      const long = Math.max(1, round((usd / most) * room));
      return markup`<a href="#${anchorOf(id)}"><text class="name" x="0" y="${y + 13}">${shortened(title, name - 12, 12)}</text></a><rect class="plain" x="${name}" y="${y + 1}" width="${long}" height="15" rx="2"/><text class="tick" x="${round(name + long + 8)}" y="${y + 13}">${money(usd)}</text>`;
    });
    return { height: 4 + shown.length * 24, parts: rows };
  });
}
