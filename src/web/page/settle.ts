import { type Markup, directionAttribute, markup } from "../../engine/lib/markup.js";
import { maxMessageChars } from "../../engine/storage/state/steering-inbox.js";
import type { Extracted, Field, Rrd } from "../../research/generated/rrd.js";
import { differences } from "../../research/overview/screen/settle-field.js";
import { nameOf } from "../../research/papers/paper-keys.js";
import { passageOf } from "../../research/report/page/statements.js";
import type { FieldAnswers } from "../../research/units/form/agreement.js";
import { textOf } from "../../research/units/form/check-values.js";
import { piecesOf } from "../../text/evidence/quoted.js";
import { type Page, part } from "../live-page.js";
import { projectAddress, readingAddress } from "./texts.js";

/** The address of the page on which the user settles fields on which two agents differ. */
export const settleAddress = (name: string): string => `${projectAddress(name)}settle`;

/** All cells on which two agents differ, with both values, their passages, and buttons to decide. */
export function settlePage(name: string, rrd: Rrd, notice: string): Page {
  const differingCells = differences(rrd);
  const openCount = differingCells.filter(({ answers }) => answers.settled === undefined).length;
  const message = notice === "" ? "" : markup`<p class="note told" role="status" dir="auto">${notice}</p>`;
  const header = markup`<header id="top"><nav class="home"><a href="${projectAddress(name)}">Back to the project</a></nav>${message}<h1>Fields on which two agents differ</h1><p class="quiet">${openCount} of ${differingCells.length} open. Until you decide, the first agent's value stands.</p></header>`;
  const cellParts = differingCells.map(({ paper, field, answers }, index) => {
    const { first, second, settled } = answers;
    const ownValue = settled?.own;
    return part(
      `cell-${index}`,
      markup`<section id="cell-${index}" class="deciding-cell"><h2 dir="auto">${field.name}: <a href="${readingAddress(name, paper.id)}">${nameOf(paper)}</a></h2><p class="meta" dir="auto">${paper.title}</p><ul class="readers">${valueItem("first", first, answers)}${valueItem("second", second, answers)}${ownValue === undefined ? "" : valueItem("own", ownValue, answers)}</ul><form method="post" action="${settleAddress(name)}"><input type="hidden" name="paper" value="${paper.id}"><input type="hidden" name="field" value="${field.id}"><div class="row"><label>Why <input name="why" maxlength="${maxMessageChars}" autocomplete="off"></label><button name="take" value="first">Follow the first</button><button name="take" value="second">Follow the second</button></div><details><summary>Give your own value</summary><div class="row">${valueInput(field)}<label>The paper's words <input name="quote" autocomplete="off"></label><button name="take" value="own">Keep mine</button></div><p class="quiet">The words are looked for in the paper. Without them your value is marked “without a passage”.</p></details></form></section>`,
    );
  });
  return { title: "Differences of two agents", parts: [part("top", header), ...cellParts] };
}

function valueItem(
  take: "first" | "second" | "own",
  extracted: Extracted | undefined,
  { settled }: FieldAnswers,
): Markup {
  const { by = "an agent", value, evidence = [], reason } = extracted ?? {};
  const text = value === undefined ? "not reported" : textOf(value);
  const passages = evidence.map((item) => markup`<div class="passage">${passageOf(piecesOf(item))}</div>`);
  return markup`<li dir="auto"><b>${by} (${take}):</b> <span${directionAttribute(text)}>${text}</span>${reason === undefined ? "" : ` (${reason})`}${settled?.take === take ? markup` <b class="ok">✓ used</b>` : ""}${passages}</li>`;
}

const valueInput = ({ choices = [], unit }: Field): Markup =>
  choices.length === 0
    ? markup`<label>Value${unit === undefined ? "" : ` (${unit})`} <input name="value" autocomplete="off"></label>`
    : markup`<label>Value <select name="value">${choices.map((choice) => markup`<option>${choice}</option>`)}</select></label>`;
