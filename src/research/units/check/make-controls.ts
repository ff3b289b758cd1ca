import { createHash } from "node:crypto";
import { numbersWithoutQuote } from "../../../text/evidence/numbers/check-numbers.js";
import { wordsOf } from "../../../text/evidence/nearest-passage.js";
import type { StoredQuote } from "../../../text/evidence/quoted.js";
import { sentencesAround } from "../../../text/evidence/structure/sentences.js";
import { minControlAnswers } from "../../derived/checker-rates.js";
import { swapped, turned } from "./twins.js";

/** A passage as a sentence cites it. */
export interface CitedPassage extends StoredQuote {
  /** The paper's key. */
  readonly paper: string;
}

/** A sentence whose right answer is known, and the passage that it is shown with. */
export interface MadeControl<P extends CitedPassage = CitedPassage> {
  readonly text: string;
  readonly passage: P;
  /** Whether the passage surely bears it out; else it surely does not. */
  readonly holds: boolean;
}

/** Controls of each kind in a batch, at least. */
const leastOfEach = 2;

/**
 * The controls of a batch: as many of both kinds, at least two of each, and at first so many that the checker's marks
 * can count after them. They are made from the passages that the batch cites and from the `others` of the project, the
 * same for the same `seed`. Each passage serves once; in a project with few passages it serves twice, with another
 * sentence. There are fewer controls if the passages give no more.
 */
export function controlsFor<P extends CitedPassage>(
  citedOnes: readonly P[],
  others: readonly P[],
  answered: number,
  seed: string,
): MadeControl<P>[] {
  const each = Math.max(leastOfEach, Math.ceil((minControlAnswers - answered) / 2));
  const cited = shuffledBy(distinct(citedOnes), `${seed} cited`);
  const pool = distinct([...cited, ...shuffledBy(others, `${seed} others`)]).slice(0, maxPool);
  const sources = pool.flatMap((passage) => sentencesOf(passage).map((text) => ({ text, passage })));
  const controls: MadeControl<P>[] = [];
  // First those below a passage that speaks of answers: who obeys it lets a control pass.
  const targets = cited.toSorted((a, b) => Number(speaksOfAnswers(b)) - Number(speaksOfAnswers(a)));
  const numbersFirst = sources.toSorted((a, b) => hasNumber(b.text) - hasNumber(a.text));
  const count = (holds: boolean) => controls.filter((control) => control.holds === holds).length;
  for (const used of [new Set<P>(), new Set<P>()]) {
    for (let made = count(false); made < each; made += 1) {
      const ofTarget = speaksOfAnswers(targets[made]) ? "below another" : undefined;
      const first = ofTarget ?? (made % 2 === 0 ? "twin" : "below another");
      const fresh = sources.filter((source) => !isAmong(controls, source));
      const makers = { twin: () => twinOf(fresh, used), "below another": () => strayOf(fresh, targets, used) };
      const control = makers[first]() ?? makers[first === "twin" ? "below another" : "twin"]();
      if (control !== undefined && !isAmong(controls, control)) controls.push(control);
    }
    for (const source of numbersFirst) {
      if (count(true) === each) break;
      if (used.has(source.passage) || isAmong(controls, source)) continue;
      used.add(source.passage);
      controls.push({ ...source, holds: true });
    }
  }
  return controls;
}

const isAmong = <P extends CitedPassage>(controls: readonly MadeControl<P>[], { text, passage }: Source<P>): boolean =>
  controls.some((control) => control.text === text && control.passage === passage);

/** Passages that are looked through for controls. */
const maxPool = 120;

interface Source<P> {
  readonly text: string;
  readonly passage: P;
}

/** A passage's own sentence, turned into what it does not say with the words and numbers that it has. */
function twinOf<P extends CitedPassage>(sources: readonly Source<P>[], used: Set<P>): MadeControl<P> | undefined {
  for (const { text, passage } of sources) {
    if (used.has(passage)) continue;
    const twin = turned(text) ?? swapped(text);
    if (twin === undefined || !isPassedByNumbers(twin, passage) || isSaidIn(twin, passage)) continue;
    used.add(passage);
    return { text: twin, passage, holds: false };
  }
  return undefined;
}

/** A paper's own sentence below a passage of another paper that has little to do with it. */
function strayOf<P extends CitedPassage>(
  sources: readonly Source<P>[],
  targets: readonly P[],
  used: Set<P>,
): MadeControl<P> | undefined {
  for (const target of [...targets, ...sources.map(({ passage }) => passage)]) {
    if (used.has(target)) continue;
    const stray = sources.find(
      ({ text, passage }) =>
        passage.paper !== target.paper &&
        !used.has(passage) &&
        // Where no sentence is without numbers, an easy control still shows who obeys.
        (isPassedByNumbers(text, target) || speaksOfAnswers(target)) &&
        sharedWords(text, target) < maxShared,
    );
    if (stray === undefined) continue;
    used.add(target);
    used.add(stray.passage);
    return { text: stray.text, passage: target, holds: false };
  }
  return undefined;
}

/** The share of its words that a sentence may have in common with a passage which surely does not bear it out. */
const maxShared = 0.3;

/** The sentences of a passage that can stand alone: of running text, uncut, neither short nor long. */
function sentencesOf({ passage }: CitedPassage): string[] {
  if (passage === undefined || /\n|…|\s\|\s/.test(passage)) return [];
  return sentencesAround(passage, { start: 0, end: passage.length })
    .map(({ start, end }) => passage.slice(start, end).trim())
    .filter((text) => text.length >= 40 && text.length <= 320 && /^\p{Lu}.{1,320}[.。]$/u.test(text));
}

/** What code checks of a sentence would not give it away. */
const isPassedByNumbers = (text: string, { passage }: CitedPassage): boolean =>
  numbersWithoutQuote(text, [{ quote: passage }]).missing.length === 0;

const isSaidIn = (text: string, { passage = "" }: CitedPassage): boolean => passage.includes(text);
const hasNumber = (text: string): number => Number(/\p{Nd}/u.test(text));

/** The answers that a checker may give are seldom words of a paper, unless it wants to be answered for. */
const speaksOfAnswers = (passage: CitedPassage | undefined): boolean =>
  /(?<!\p{L})(?:supported|overstated|contradicted|cannot.tell)(?!\p{L})/iu.test(passage?.passage ?? "");

function sharedWords(text: string, { passage = "" }: CitedPassage): number {
  const known = new Set(wordsOf(passage));
  const words = wordsOf(text).filter((word) => word.length > 3);
  return words.filter((word) => known.has(word)).length / Math.max(1, words.length);
}

function distinct<P extends CitedPassage>(passages: readonly P[]): P[] {
  const known = new Map<string, P>();
  for (const each of passages) {
    const key = `${each.paper}\n${each.passage ?? each.quote}`;
    if (!known.has(key)) known.set(key, each);
  }
  return [...known.values()];
}

/** In an order that looks like chance and is the same for the same seed. */
export function shuffledBy<T>(items: readonly T[], seed: string): T[] {
  const keyOf = (index: number) => createHash("sha256").update(`${seed}\n${index}`).digest("hex");
  return items
    .map((item, index) => ({ item, key: keyOf(index) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ item }) => item);
}
