import { type Markup, directionAttribute, markup } from "../../../engine/lib/markup.js";
import { counted } from "../pictures/words.js";
import { agreementLine } from "../../units/form/agreement.js";
import { type Cell, extractedTable, settleAdvice } from "../sections/extracted.js";
import type { PageContext } from "./context.js";
import { paperLink, quotePassage } from "./statements.js";

/** The table of extracted data. Each cell opens its passages; the script sorts by columns and filters rows. */
export function* extracted(context: PageContext): Iterable<Markup> {
  const { fields, rows, agreements, open: openCount } = extractedTable(context.model);
  const fieldHeads = fields.map(
    ({ label, field }, index) =>
      markup`<th scope="col"${field.ask === undefined ? "" : markup` title="${field.ask}"`}><button type="button" data-sort="${String(index + 1)}">${label}</button></th>`,
  );
  yield markup`<div class="tools"><input data-filter="form" type="search" placeholder="Paper or value" aria-label="Find rows"></div><p class="quiet" id="form-shown" aria-live="polite">${counted(rows.length, "paper")}</p>`;
  yield markup`<div class="table" tabindex="0"><table id="form"><thead><tr><th scope="col"><button type="button" data-sort="0">Paper</button></th>${fieldHeads}</tr></thead><tbody>
`;
  for (const { paper, cells } of rows)
    yield markup`<tr><th scope="row">${paperLink(paper)}</th>${cells.map((cell) => cellOf(context, cell))}</tr>
`;
  yield markup`</tbody></table></div>`;
  if (agreements.length > 0)
    yield markup`<p>Two agents filled in the form, each alone. How often they agree:</p><ul>${agreements.map((each) => markup`<li>${agreementLine(each)}</li>`)}</ul>${openCount === 0 ? "" : markup`<p class="quiet">${settleAdvice(openCount)}</p>`}`;
}

function cellOf(context: PageContext, cell: Cell): Markup {
  return markup`<td data-value="${cell.isValue ? cell.text : ""}">${cellContent(context, cell)}</td>`;
}

/** A value that opens its passages. `sides`: the different values of two agents. */
function cellContent(context: PageContext, { text, isValue, sign, note, quotes, sides }: Cell): Markup {
  if (sides !== undefined) {
    const sideParts = sides.map(
      (side) =>
        markup`<p class="meta">${side.by}: <b${directionAttribute(side.text)}>${side.text}</b> ${side.sign}${side.isChosen ? "; a person follows this one" : ""}</p>${side.quotes.map((quote) => markup`<div class="q">${quotePassage(context, quote, true)}</div>`)}`,
    );
    return markup`<details class="cell"><summary${directionAttribute(text)}>${text}&nbsp;<span class="off">≠</span></summary>${sideParts}</details>`;
  }
  if (quotes.length === 0 && note === "") return markup`<span class="quiet">${text}</span>`;
  const shown = isValue
    ? markup`${text}&nbsp;<span class="${sign === "✓" ? "ok" : "off"}">${sign}</span>`
    : markup`<span class="quiet">${text}</span>`;
  return markup`<details class="cell"><summary${directionAttribute(text)}>${shown}</summary>${note === "" ? "" : markup`<p class="meta">${note}</p>`}${quotes.map((quote) => markup`<div class="q">${quotePassage(context, quote, true)}</div>`)}</details>`;
}
