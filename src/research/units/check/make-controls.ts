import { createHash } from "node:crypto";
import { numbersWithoutQuote } from "../../../text/evidence/numbers/check-numbers.js";
import { wordsOf } from "../../../text/evidence/nearest-passage.js";
import type { StoredQuote } from "../../../text/evidence/quoted.js";
import { sentencesAround } from "../../../text/evidence/structure/sentences.js";
import { minControlAnswers } from "../../derived/checker-rates.js";
import { swapNumbers, reverseDirection } from "./twins.js";

/** A passage that a sentence cites. */
export interface CitedPassage extends StoredQuote {
  /** The paper's id. */
  readonly paper: string;
}

/** A sentence with a known right answer, and the passage that is shown with it. */
export interface ControlSentence<P extends CitedPassage = CitedPassage> {
  readonly text: string;
  readonly passage: P;
  /** True if the passage certainly supports the sentence, false if it certainly does not. */
  readonly isSupported: boolean;
}

/** Minimum number of controls of each kind in a batch. */
const minPerKind = 2;

/**
 * The controls of a batch: the same number of both kinds, at least two of each, and at first enough to decide whether
 * the checker's verdicts count. Sources are the passages that the batch cites and the `others` of the project. The same
 * `seed` gives the same controls. Each passage is used once; in a project with few passages twice, with another
 * sentence. If there are too few passages, there are fewer controls.
 */
export function makeControls<P extends CitedPassage>(
  citedPassages: readonly P[],
  others: readonly P[],
  answeredControls: number,
  seed: string,
): ControlSentence<P>[] {
  const countPerKind = Math.max(minPerKind, Math.ceil((minControlAnswers - answeredControls) / 2));
  const cited = shuffle(removeDuplicates(citedPassages), `${seed} cited`);
  const pool = removeDuplicates([...cited, ...shuffle(others, `${seed} others`)]).slice(0, maxPool);
  const sources = pool.flatMap((passage) => sentencesOf(passage).map((text) => ({ text, passage })));
  const controls: ControlSentence<P>[] = [];
  // Passages that contain a word of an answer come first: a checker that obeys such a passage accepts a false control.
  const shuffledTargets = cited.toSorted((a, b) => Number(hasAnswerWords(b)) - Number(hasAnswerWords(a)));
  const numbersFirst = sources.toSorted((a, b) => hasNumber(b.text) - hasNumber(a.text));
  const count = (isSupported: boolean) => controls.filter((control) => control.isSupported === isSupported).length;
  for (const used of [new Set<P>(), new Set<P>()]) {
    for (let falseCount = count(false); falseCount < countPerKind; falseCount += 1) {
      const forcedMaker = hasAnswerWords(shuffledTargets[falseCount]) ? "below another" : undefined;
      const firstMaker = forcedMaker ?? (falseCount % 2 === 0 ? "twin" : "below another");
      const unusedSources = sources.filter((source) => !isAmong(controls, source));
      const makers = {
        twin: () => alteredSentence(unusedSources, used),
        "below another": () => foreignSentence(unusedSources, shuffledTargets, used),
      };
      const control = makers[firstMaker]() ?? makers[firstMaker === "twin" ? "below another" : "twin"]();
      if (control !== undefined && !isAmong(controls, control)) controls.push(control);
    }
    for (const source of numbersFirst) {
      if (count(true) === countPerKind) break;
      if (used.has(source.passage) || isAmong(controls, source)) continue;
      used.add(source.passage);
      controls.push({ ...source, isSupported: true });
    }
  }
  return controls;
}

const isAmong = <P extends CitedPassage>(
  controls: readonly ControlSentence<P>[],
  { text, passage }: Source<P>,
): boolean => controls.some((control) => control.text === text && control.passage === passage);

/** Maximum number of passages that are used to find controls. */
const maxPool = 120;

interface Source<P> {
  readonly text: string;
  readonly passage: P;
}

/**
 * A sentence of a passage, changed so that the passage no longer supports it, although the passage contains all its
 * words and numbers.
 */
function alteredSentence<P extends CitedPassage>(
  sources: readonly Source<P>[],
  used: Set<P>,
): ControlSentence<P> | undefined {
  for (const { text, passage } of sources) {
    if (used.has(passage)) continue;
    const twin = reverseDirection(text) ?? swapNumbers(text);
    if (twin === undefined || !hasOnlyPassageNumbers(twin, passage) || isContained(twin, passage)) continue;
    used.add(passage);
    return { text: twin, passage, isSupported: false };
  }
  return undefined;
}

/** A sentence of one paper with a passage of another paper. The two have few words in common. */
function foreignSentence<P extends CitedPassage>(
  sources: readonly Source<P>[],
  targets: readonly P[],
  used: Set<P>,
): ControlSentence<P> | undefined {
  for (const target of [...targets, ...sources.map(({ passage }) => passage)]) {
    if (used.has(target)) continue;
    const foreignSource = sources.find(
      ({ text, passage }) =>
        passage.paper !== target.paper &&
        !used.has(passage) &&
        // For a passage with words of an answer, an easy control is enough: it shows whether the checker obeys the
        // passage.
        (hasOnlyPassageNumbers(text, target) || hasAnswerWords(target)) &&
        sharedWords(text, target) < maxSharedShare,
    );
    if (foreignSource === undefined) continue;
    used.add(target);
    used.add(foreignSource.passage);
    return { text: foreignSource.text, passage: target, isSupported: false };
  }
  return undefined;
}

/** Maximum share of a sentence's words that also occur in a passage which surely does not bear it out. */
const maxSharedShare = 0.3;

/** The sentences of a passage that can be shown alone: running text that is not cut, neither short nor long. */
function sentencesOf({ passage }: CitedPassage): string[] {
  if (passage === undefined || /\n|…|\s\|\s/.test(passage)) return [];
  return sentencesAround(passage, { start: 0, end: passage.length })
    .map(({ start, end }) => passage.slice(start, end).trim())
    .filter((text) => text.length >= 40 && text.length <= 320 && /^\p{Lu}.{1,320}[.。]$/u.test(text));
}

/** Whether the passage contains all numbers of a sentence, so that the numbers alone do not show that it is wrong. */
const hasOnlyPassageNumbers = (text: string, { passage }: CitedPassage): boolean =>
  numbersWithoutQuote(text, [{ quote: passage }]).missing.length === 0;

const isContained = (text: string, { passage = "" }: CitedPassage): boolean => passage.includes(text);
const hasNumber = (text: string): number => Number(/\p{Nd}/u.test(text));

/**
 * Whether a passage contains a word that a checker may answer. This is rare, except in attempts to influence the
 * checker.
 */
const hasAnswerWords = (passage: CitedPassage | undefined): boolean =>
  /(?<!\p{L})(?:supported|overstated|contradicted|cannot.tell)(?!\p{L})/iu.test(passage?.passage ?? "");

function sharedWords(text: string, { passage = "" }: CitedPassage): number {
  const passageWords = new Set(wordsOf(passage));
  const words = wordsOf(text).filter((word) => word.length > 3);
  return words.filter((word) => passageWords.has(word)).length / Math.max(1, words.length);
}

function removeDuplicates<P extends CitedPassage>(passages: readonly P[]): P[] {
  const byKey = new Map<string, P>();
  for (const passage of passages) {
    const key = `${passage.paper}\n${passage.passage ?? passage.quote}`;
    if (!byKey.has(key)) byKey.set(key, passage);
  }
  return [...byKey.values()];
}

/** Sorts items in an order that looks random and is always the same for the same seed. */
export function shuffle<T>(items: readonly T[], seed: string): T[] {
  const keyOf = (index: number) => createHash("sha256").update(`${seed}\n${index}`).digest("hex");
  return items
    .map((item, index) => ({ item, key: keyOf(index) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ item }) => item);
}
