import { type Markup, markup } from "../../engine/lib/markup.js";
import { maxMessageChars } from "../../engine/storage/state/steering-inbox.js";
import type { Criterion, Reading } from "../../research/generated/rrd.js";
import { passageOf } from "../../research/report/page/statements.js";
import {
  decidedText,
  endOfList,
  numbersOf,
  type ScreeningView,
  standingText,
} from "../../research/overview/screen/session.js";
import {
  uncertaintyReasons,
  hasPassage,
  emptyListTexts,
  recordsToScreen,
  type ToScreen,
  type WhichRecords,
  withKeywords,
} from "../../research/overview/screen/to-screen.js";
import { exclusionBy } from "../../research/screening/eligibility/eligibility.js";
import { piecesOf } from "../../text/evidence/quoted.js";
import { type Page, part } from "../live-page.js";
import { projectAddress, readingAddress } from "./texts.js";

/** The address for screening the records of a project: a list, and the record with this id. */
export const screenAddress = (name: string, which: WhichRecords, at?: string): string =>
  `${projectAddress(name)}screen?which=${which}${at === undefined ? "" : `&at=${encodeURIComponent(at)}`}`;

/** The labels of the lists. */
export const lists: Readonly<Record<WhichRecords, string>> = {
  waiting: "Waiting",
  conflicts: "Conflicts",
  unclear: "Unclear",
  all: "All",
};

interface ScreenView {
  readonly name: string;
  readonly which: WhichRecords;
  readonly view: ScreeningView;
  /** The result of the last action. */
  readonly says: string;
}

/** The page for one record: the facts that the user needs for a decision, and buttons that also have keys. */
export function screenPage({ name, which, view, says }: ScreenView): Page {
  const { records, index, record } = view;
  const title = record === undefined ? "Screening" : `${index + 1} of ${records.length}: ${record.title}`;
  return {
    title,
    parts: [
      part("top", topPart({ name, which, view, says })),
      part("record", record === undefined ? endOfListPart(which, view) : recordPart(record, name, view)),
      part("acts", actionForms({ name, which, view, says })),
    ],
  };
}

function topPart({ name, which, view: { rrd }, says }: ScreenView): Markup {
  const tabs = (Object.keys(lists) as WhichRecords[]).map((list) => {
    const isCurrent = list === which;
    const count = recordsToScreen(rrd, list).length;
    return markup`<a href="${screenAddress(name, list)}"${isCurrent ? markup` aria-current="page"` : ""}>${lists[list]} <span>${count}</span></a>`;
  });
  return markup`<header id="top"><nav class="home"><a href="${projectAddress(name)}">Back to the project</a></nav><nav class="tabs" aria-label="Which records">${tabs}</nav>${says === "" ? "" : markup`<p class="note told" role="status" dir="auto">${says}</p>`}</header>`;
}

const endOfListPart = (which: WhichRecords, view: ScreeningView): Markup =>
  markup`<section id="record"><h1 tabindex="-1">${view.records.length === 0 ? emptyListTexts[which] : `That was the last record; ${decidedText(view)}.`}</h1></section>`;

function recordPart(record: ToScreen, name: string, view: ScreeningView): Markup {
  const { rrd, records, index, criteria, note } = view;
  const { id, title, about, abstract, read, answers, readings, notes } = record;
  const isInPool = rrd.papers_pool.some((paper) => paper.id === id);
  const markedAbstract = withKeywords(abstract, rrd.requirements.keywords ?? []).map(({ text, isKeyword }) =>
    isKeyword ? markup`<mark>${text}</mark>` : text,
  );
  return markup`<article id="record"><p class="kicker" dir="auto">${index + 1} of ${records.length} · ${decidedText(view)} · ${record.name} ${standingText(record, view)}</p><h1 tabindex="-1" dir="auto">${title}</h1><p class="meta">${about}${isInPool ? markup` <a href="${readingAddress(name, id)}">Next to its text</a>` : ""}</p><p class="abstract" dir="auto">${abstract === "" ? markup`<span class="quiet">${read.length === 0 ? "The abstract is not known." : "No abstract; from the text that was read:"}</span>${read.map((words) => markup` ${words}`)}` : markedAbstract}</p>${
    criteria.length === 0
      ? ""
      : markup`<h2>Criteria</h2><ul class="goals">${criteria.map((criterion) => criterionItem(criterion, answers))}</ul>`
  }${readings.length === 0 ? "" : markup`<h2>Readers</h2><ul class="readers">${readings.map(readingItem)}</ul>`}${
    notes === "" ? "" : markup`<p class="note" dir="auto">Noted: ${notes}</p>`
  }${note === "" ? "" : markup`<p class="note" dir="auto">Your note: ${note}</p>`}</article>`;
}

const answerLabels = { yes: "✓ Yes", no: "✗ No", unclear: "? Unclear" } as const;

function criterionItem({ id, kind, text }: Criterion, answers: ToScreen["answers"]): Markup {
  const answer = answers.find(({ criterion }) => criterion.id === id)?.answer;
  const pieces = answer !== undefined && hasPassage(answer) ? piecesOf(answer) : [];
  const doubts = answer === undefined ? [] : uncertaintyReasons(answer);
  return markup`<li class="${answer?.answer === "unclear" ? "unmet" : "open"}"><b>${answer === undefined ? "– Open" : answerLabels[answer.answer]}</b> <span dir="auto">${id} ${kind}: ${text}</span>${
    doubts.length === 0 ? "" : markup`<p class="meta" dir="auto">${doubts.join(" · ")}</p>`
  }${pieces.length === 0 ? "" : markup`<div class="passage">${passageOf(pieces)}</div>`}</li>`;
}

const readingItem = ({ by, decision, reason }: Reading): Markup =>
  markup`<li dir="auto"><b>${by}</b> would ${decision} it${reason === undefined ? "" : `: ${reason}`}</li>`;

/** A button with a key. */
const button = (act: string, key: string, words: string): Markup =>
  markup`<button name="act" value="${act}" data-key="${key}" aria-keyshortcuts="${key}">${words} <kbd>${key}</kbd></button>`;

function actionForms({ name, which, view }: ScreenView): Markup {
  const { record, criteria, note } = view;
  const form = (label: string, body: Markup, kind = "plain") =>
    markup`<form method="post" action="${projectAddress(name)}screen" class="${kind}" aria-label="${label}"><input type="hidden" name="which" value="${which}"><input type="hidden" name="id" value="${record?.id ?? endOfList}">${body}</form>`;
  const moveButtons = markup`${button("back", "b", "Back")}${button("undo", "u", "Undo")}`;
  const keys = markup`<button type="button" id="keys" class="keys" aria-pressed="true" title="Whether keys press these buttons">Keys</button>`;
  const actionsSection = (body: Markup) =>
    markup`<section id="acts" class="deciding" aria-label="Decide">${body}${keys}</section>`;
  if (record === undefined) return actionsSection(form("Move", moveButtons));
  const criterionButtons = criteria
    .slice(0, 9)
    .map(
      (criterion, index) =>
        markup`<button name="by" value="${criterion.id}" data-key="${index + 1}"><kbd>${index + 1}</kbd> <span dir="auto">${exclusionBy(criterion)}</span></button>`,
    );
  const reasonInput = markup`<label for="why">${criterionButtons.length === 0 ? "Why?" : "Another reason"}</label><input id="why" name="why" data-key="0" maxlength="${maxMessageChars}" required value="${note}" autocomplete="off"><button name="act" value="exclude">Exclude</button>`;
  const excludeForms = markup`<details id="exclude"><summary data-key="x" aria-keyshortcuts="x">Exclude <kbd>x</kbd></summary>${
    criterionButtons.length === 0
      ? ""
      : form(
          "Exclude by a criterion",
          markup`${criterionButtons}<p id="no-criterion" class="meta" role="status" data-text="That number names no criterion; type ${numbersOf(criteria)}, or 0 for another reason."></p>`,
          "by",
        )
  }${form("Exclude for another reason", reasonInput, "words")}</details>`;
  const laterButtons = markup`${button("maybe", "m", "Maybe")}${button("skip", "s", "Skip")}${moveButtons}`;
  const noteInput = markup`<label for="note">Note</label><input id="note" name="note" data-key="n" maxlength="${maxMessageChars}" value="${note}" autocomplete="off"><button name="act" value="note">Keep</button>`;
  return actionsSection(
    markup`${form("Include", button("include", "i", "Include"))}${excludeForms}${form("Later", laterButtons)}${form("Note", noteInput, "words")}`,
  );
}

/** The script. A key presses the button that shows it, unless the user is typing. */
export const screenScript = `(() => {
  const heading = document.querySelector("#record h1");
  const keys = document.getElementById("keys");
  const exclude = document.getElementById("exclude");
  const choices = exclude?.querySelector(".by");
  const noCriterion = document.getElementById("no-criterion");
  const storedSetting = (value) => { try { return value ? localStorage.setItem("keys", value) : localStorage.getItem("keys"); } catch { return null; } };
  let isLeaving = false;
  const showKeysState = (isOn) => keys.setAttribute("aria-pressed", isOn);
  showKeysState(storedSetting() !== "off");
  keys.addEventListener("click", () => {
    const isOn = keys.getAttribute("aria-pressed") !== "true";
    storedSetting(isOn ? "on" : "off");
    showKeysState(isOn);
  });
  addEventListener("submit", () => { isLeaving = true; });
  addEventListener("pageshow", () => { isLeaving = false; });
  heading.focus({ preventScroll: true });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    const isTyping = event.target.matches("input, textarea, select");
    if (event.key === "Escape") {
      if (exclude?.open) exclude.open = false;
      if (isTyping || exclude?.contains(event.target)) heading.focus({ preventScroll: true });
      return;
    }
    if (isTyping || isLeaving || keys.getAttribute("aria-pressed") !== "true") return;
    if (/^[0-9]$/.test(event.key) && !exclude?.open) return;
    const target = document.querySelector('[data-key="' + CSS.escape(event.key.toLowerCase()) + '"]');
    // Enter must not press a criterion that nobody chose, so none has the focus.
    const focusOnChoices = () => {
      if (!choices) return exclude.querySelector("input:not([type=hidden])").focus();
      choices.tabIndex = -1;
      choices.focus();
    };
    if (!target) {
      if (!/^[0-9]$/.test(event.key) || !choices) return;
      event.preventDefault();
      noCriterion.textContent = noCriterion.dataset.text;
      return focusOnChoices();
    }
    event.preventDefault();
    if (target.matches("summary")) {
      exclude.open = true;
      if (noCriterion) noCriterion.textContent = "";
      focusOnChoices();
    } else if (target.matches("input")) target.focus();
    else target.click();
  });
})();
`;
