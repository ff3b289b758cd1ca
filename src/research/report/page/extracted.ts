import { type Markup, direction, markup } from "../../../engine/lib/markup.js";
import { counted } from "../pictures/words.js";
import { agreedText, type Cell, extractedTable, type Given } from "../sections/extracted.js";
import type { PageContext } from "./context.js";
import { paperLink, quoteWords } from "./statements.js";

/** The table of what was extracted: each cell opens its passages; the script sorts by a column and filters the rows. */
export function* extracted(context: PageContext): Iterable<Markup> {
  const { fields, rows, agreement } = extractedTable(context.model);
  yield markup`<div class="tools"><input data-filter="form" type="search" placeholder="Paper or value" aria-label="Find rows"></div><p class="quiet" id="form-shown" aria-live="polite">${counted(rows.length, "paper")}</p><div class="table" tabindex="0"><table id="form"><thead><tr><th scope="col"><button type="button" data-sort="0">Paper</button></th>${fields.map(({ label, field }, index) => markup`<th scope="col"${field.ask === undefined ? "" : markup` title="${field.ask}"`}><button type="button" data-sort="${String(index + 1)}">${label}</button></th>`)}</tr></thead><tbody>
`;
  for (const { paper, cells } of rows)
    yield markup`<tr><th scope="row">${paperLink(paper)}</th>${cells.map((cell) => cellOf(context, cell))}</tr>
`;
  yield markup`</tbody></table></div>`;
  if (agreement.length > 0)
    yield markup`<p>Two readers filled in the form, each by itself. They agree on ${agreement.map((one, index) => markup`${index === 0 ? "" : "; "}${one.field.name}: ${agreedText(one)}`)}.</p>`;
}

function cellOf(context: PageContext, cell: Cell): Markup {
  const { other } = cell;
  const value = cell.isValue ? cell.text : "";
  const second =
    other === undefined
      ? markup``
      : markup`<p class="meta">${other.by === "" ? "The other reader" : other.by}:</p>${partOf(context, other)}`;
  return markup`<td data-value="${value}"${other === undefined ? "" : markup` class="differ"`}>${partOf(context, cell)}${second}</td>`;
}

/** What one reader gave, unfolding its passages. */
function partOf(context: PageContext, { text, isValue, sign, note, quotes }: Given): Markup {
  if (quotes.length === 0 && note === "") return markup`<span class="quiet">${text}</span>`;
  const shown = isValue
    ? markup`${text}&nbsp;<span class="${sign === "✓" ? "ok" : "off"}">${sign}</span>`
    : markup`<span class="quiet">${text}</span>`;
  return markup`<details class="cell"><summary${direction(text)}>${shown}</summary>${note === "" ? "" : markup`<p class="meta">${note}</p>`}${quotes.map((quote) => markup`<div class="q">${quoteWords(context, quote, true)}</div>`)}</details>`;
}
