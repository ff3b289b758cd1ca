import { type Markup, markup } from "../../../engine/lib/markup.js";
import { answeredText, type AskedQuestion, type AskedQuote } from "../narrative/questions.js";
import type { PageContext } from "./context.js";
import { meaningLine, meaningSign, paperLink, passageOf, removedList } from "./statements.js";

/** The questions that users asked with `research-ralph ask`, each with its answer and the quotes that it cites. */
export function* questions({ model, render }: PageContext): Iterable<Markup> {
  for (const asked of model.questions) {
    const { question, noAnswer, sentences, invalidReasons, meaning } = asked;
    yield markup`<h3 dir="auto">${question}</h3><p class="meta">${answeredText(asked)}</p>${invalidReasons.map((why) => markup`<p><span class="chip bad">no longer stands: ${why}</span></p>`)}${
      sentences.length === 0
        ? markup`<p>${noAnswer}</p>`
        : sentences.map((sentence) => answerSentence(sentence, render))
    }${meaning === undefined ? "" : markup`${meaningLine(meaning)}${removedList(meaning, render)}`}`;
  }
}

const answerSentence = (
  { text, marks, quotes, meaning }: AskedQuestion["sentences"][number],
  render: PageContext["render"],
): Markup =>
  markup`<p dir="auto">${render(text)}${meaning === undefined ? "" : meaningSign(meaning)}${marks.map((mark) => markup` <span class="chip bad">${mark}</span>`)}</p><details class="words"><summary>${quotes.length === 1 ? "The words it rests on" : `The ${quotes.length} quotes it rests on`}</summary>${quotes.map(quoteOfAnswer)}</details>`;

const quoteOfAnswer = ({ paper, key, pieces, locator, notes }: AskedQuote): Markup =>
  markup`<div class="q">${paper === undefined ? key : paperLink(paper)}${passageOf(pieces)}<small>${[...(locator === undefined ? [] : [locator]), ...notes].join(" · ")}</small></div>`;
