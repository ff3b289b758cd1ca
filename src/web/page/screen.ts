import { type Markup, markup } from "../../engine/lib/markup.js";
import { maxMessage } from "../../engine/storage/state/steering-inbox.js";
import type { Criterion, Reading } from "../../research/generated/rrd.js";
import { passageOf } from "../../research/report/page/statements.js";
import { type Look, endOfList } from "../../research/overview/screen/session.js";
import {
  doubtsOf,
  hasPassage,
  nothingWords,
  recordsToScreen,
  type ToScreen,
  type WhichRecords,
  withKeywords,
} from "../../research/overview/screen/to-screen.js";
import { piecesOf } from "../../text/evidence/quoted.js";
import { type Page, part } from "../live-page.js";
import { projectAddress, readingAddress } from "./texts.js";

/** Where the records of a project are gone through: a list of them, and the record of this id in it. */
export const screenAt = (name: string, which: WhichRecords, at?: string): string =>
  `${projectAddress(name)}screen?which=${which}${at === undefined ? "" : `&at=${encodeURIComponent(at)}`}`;

/** The lists, as their links say it. */
export const lists: Readonly<Record<WhichRecords, string>> = {
  waiting: "Waiting",
  conflicts: "Conflicts",
  unclear: "Unclear",
  all: "All",
};

interface Shown {
  readonly name: string;
  readonly which: WhichRecords;
  readonly look: Look;
  /** What the last act did. */
  readonly says: string;
}

/** One record with all that a person decides by, and what can be done with it, by button or key. */
export function screenPage({ name, which, look, says }: Shown): Page {
  const { records, index, record } = look;
  const title = record === undefined ? "Screening" : `${index + 1} of ${records.length}: ${record.title}`;
  return {
    title,
    parts: [
      part("top", top({ name, which, look, says })),
      part("record", record === undefined ? atEnd(which, look) : shownRecord(record, name, look)),
      part("acts", acts({ name, which, look, says })),
    ],
  };
}

function top({ name, which, look: { rrd }, says }: Shown): Markup {
  const tabs = (Object.keys(lists) as WhichRecords[]).map((each) => {
    const isHere = each === which;
    const count = recordsToScreen(rrd, each).length;
    return markup`<a href="${screenAt(name, each)}"${isHere ? markup` aria-current="page"` : ""}>${lists[each]} <span>${count}</span></a>`;
  });
  return markup`<header id="top"><nav class="home"><a href="${projectAddress(name)}">Back to the project</a></nav><nav class="tabs" aria-label="Which records">${tabs}</nav>${says === "" ? "" : markup`<p class="note told" role="status" dir="auto">${says}</p>`}</header>`;
}

const atEnd = (which: WhichRecords, { records }: Look): Markup =>
  markup`<section id="record"><h1 tabindex="-1">${records.length === 0 ? nothingWords[which] : "That was the last record."}</h1></section>`;

function shownRecord(record: ToScreen, name: string, look: Look): Markup {
  const { rrd, records, index, said, criteria, note } = look;
  const { id, title, about, abstract, answers, readings, notes } = record;
  const mine = said.get(id);
  const stands = mine === undefined ? record.stands : `you said ${mine}`;
  const isInPool = rrd.papers_pool.some((paper) => paper.id === id);
  const marked = withKeywords(abstract, rrd.requirements.keywords ?? []).map(({ text, isKeyword }) =>
    isKeyword ? markup`<mark>${text}</mark>` : text,
  );
  return markup`<article id="record"><p class="kicker" dir="auto">${index + 1} of ${records.length} · ${said.size} decided · ${id} ${stands}</p><h1 tabindex="-1" dir="auto">${title}</h1><p class="meta">${about}${isInPool ? markup` <a href="${readingAddress(name, id)}">Next to its text</a>` : ""}</p><p class="abstract" dir="auto">${abstract === "" ? markup`<span class="quiet">The abstract is not known.</span>` : marked}</p>${
    criteria.length === 0
      ? ""
      : markup`<h2>Criteria</h2><ul class="goals">${criteria.map((criterion) => answerTo(criterion, answers))}</ul>`
  }${readings.length === 0 ? "" : markup`<h2>Readers</h2><ul class="readers">${readings.map(reader)}</ul>`}${
    notes === "" ? "" : markup`<p class="note" dir="auto">Noted: ${notes}</p>`
  }${note === "" ? "" : markup`<p class="note" dir="auto">Your note: ${note}</p>`}</article>`;
}

const signs = { yes: "✓ Yes", no: "✗ No", unclear: "? Unclear" } as const;

function answerTo({ id, kind, text }: Criterion, answers: ToScreen["answers"]): Markup {
  const answer = answers.find(({ criterion }) => criterion.id === id)?.answer;
  const pieces = answer !== undefined && hasPassage(answer) ? piecesOf(answer) : [];
  const doubts = answer === undefined ? [] : doubtsOf(answer);
  return markup`<li class="${answer?.answer === "unclear" ? "unmet" : "open"}"><b>${answer === undefined ? "– Open" : signs[answer.answer]}</b> <span dir="auto">${id} ${kind}: ${text}</span>${
    doubts.length === 0 ? "" : markup`<p class="meta" dir="auto">${doubts.join(" · ")}</p>`
  }${pieces.length === 0 ? "" : markup`<div class="passage">${passageOf(pieces)}</div>`}</li>`;
}

const reader = ({ by, decision, reason }: Reading): Markup =>
  markup`<li dir="auto"><b>${by}</b> would ${decision} it${reason === undefined ? "" : `: ${reason}`}</li>`;

/** A button that a key presses too. */
const button = (act: string, key: string, words: string): Markup =>
  markup`<button name="act" value="${act}" data-key="${key}" aria-keyshortcuts="${key}">${words} <kbd>${key}</kbd></button>`;

function acts({ name, which, look }: Shown): Markup {
  const { record, criteria, note } = look;
  const form = (label: string, body: Markup, kind = "plain") =>
    markup`<form method="post" action="${projectAddress(name)}screen" class="${kind}" aria-label="${label}"><input type="hidden" name="which" value="${which}"><input type="hidden" name="id" value="${record?.id ?? endOfList}">${body}</form>`;
  const moving = markup`${button("back", "b", "Back")}${button("undo", "u", "Undo")}`;
  const keys = markup`<button type="button" id="keys" class="keys" aria-pressed="true" title="Whether keys press these buttons">Keys</button>`;
  const whole = (body: Markup) =>
    markup`<section id="acts" class="deciding" aria-label="Decide">${body}${keys}</section>`;
  if (record === undefined) return whole(form("Move", moving));
  const by = criteria
    .slice(0, 9)
    .map(
      ({ id, kind, text }, index) =>
        markup`<button name="by" value="${id}" data-key="${index + 1}"><kbd>${index + 1}</kbd> <span dir="auto">${id} (${kind}): ${text}</span></button>`,
    );
  const why = markup`<label for="why">${by.length === 0 ? "Why?" : "Another reason"}</label><input id="why" name="why" data-key="0" maxlength="${maxMessage}" required value="${note}" autocomplete="off"><button name="act" value="exclude">Exclude</button>`;
  const excluding = markup`<details id="exclude"><summary data-key="x" aria-keyshortcuts="x">Exclude <kbd>x</kbd></summary>${
    by.length === 0 ? "" : form("Exclude by a criterion", markup`${by}`, "by")
  }${form("Exclude for another reason", why, "words")}</details>`;
  const later = markup`${button("maybe", "m", "Maybe")}${button("skip", "s", "Skip")}${moving}`;
  const noting = markup`<label for="note">Note</label><input id="note" name="note" data-key="n" maxlength="${maxMessage}" value="${note}" autocomplete="off"><button name="act" value="note">Keep</button>`;
  return whole(
    markup`${form("Include", button("include", "i", "Include"))}${excluding}${form("Later", later)}${form("Note", noting, "words")}`,
  );
}

/** The script: a key presses the button that shows it, while nothing is typed. */
export const screenScript = `(() => {
  const head = document.querySelector("#record h1");
  const keys = document.getElementById("keys");
  const exclude = document.getElementById("exclude");
  const stored = (value) => { try { return value ? localStorage.setItem("keys", value) : localStorage.getItem("keys"); } catch { return null; } };
  let isLeaving = false;
  const show = (on) => keys.setAttribute("aria-pressed", on);
  show(stored() !== "off");
  keys.addEventListener("click", () => {
    const on = keys.getAttribute("aria-pressed") !== "true";
    stored(on ? "on" : "off");
    show(on);
  });
  addEventListener("submit", () => { isLeaving = true; });
  addEventListener("pageshow", () => { isLeaving = false; });
  head.focus({ preventScroll: true });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    const isTyping = event.target.matches("input, textarea, select");
    if (event.key === "Escape") {
      if (exclude?.open) exclude.open = false;
      if (isTyping || exclude?.contains(event.target)) head.focus({ preventScroll: true });
      return;
    }
    if (isTyping || isLeaving || keys.getAttribute("aria-pressed") !== "true") return;
    if (/^[0-9]$/.test(event.key) && !exclude?.open) return;
    const found = document.querySelector('[data-key="' + CSS.escape(event.key.toLowerCase()) + '"]');
    if (!found) return;
    event.preventDefault();
    if (found.matches("summary")) {
      exclude.open = true;
      exclude.querySelector("button, input:not([type=hidden])").focus();
    } else if (found.matches("input")) found.focus();
    else found.click();
  });
})();
`;
