import { createHash } from "node:crypto";
import type { DocumentText } from "../../../text/documents/text/document-text.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { estimateTokens } from "../../../engine/lib/tokens.js";
import { abstractLocator } from "../../../text/evidence/check-evidence.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import type { FoundPassage } from "../../tools/context.js";
import { nameOf } from "../../papers/paper-keys.js";
import { matchFeaturesOf } from "../../papers/dedup/match-features.js";
import { workIndex } from "../../papers/dedup/work-index.js";
import { stemsOf } from "../../screening/bm25.js";
import { isIneligible } from "../../screening/eligibility/eligibility.js";
import { type KeptPaper, type KeptWords, minPassagesKept } from "./stored-words.js";
import { wordsOfPaper } from "./paper-words.js";
import type { Passage } from "./passages.js";
import { openVocabulary, type TextIndex, textIndexBuilder, type Vocabulary } from "./text-index.js";

/** A project that a question is put to. */
export interface AskedProject {
  /** Absolute. */
  readonly folder: string;
  readonly rrd: Rrd;
}

/** A paper that a question is put to. */
export interface AskedPaper {
  /** Its id; of several projects, with the project's number before it: 2:sample_01. */
  readonly key: string;
  readonly folder: string;
  readonly paper: Paper;
}

/** What quotes are looked for in. */
export type AskedText = Pick<DocumentText, "text" | "marks" | "sha256">;

/** Reads the text kept of a paper; undefined where it is missing. */
export type ReadText = (folder: string, paper: Paper) => Promise<AskedText | undefined>;

/** A passage of a paper, by offsets into its text. */
export interface PoolPassage {
  /** The paper's place in the pool. */
  readonly paper: number;
  readonly start: number;
  readonly end: number;
  readonly locator?: string;
}

/** A passage with its score; the scale is BM25's, and says nothing by itself. */
export interface Hit {
  readonly passage: PoolPassage;
  readonly score: number;
}

/** What a question's words are worth in a pool. */
export interface Query {
  /** The numbers of its words, and how much each counts. */
  readonly words: ReadonlyMap<number, number>;
  /** Its distinctive words as they stand in it, with how rare they are among the passages. */
  readonly weights: Readonly<Record<string, number>>;
}

/** The papers of the projects that are asked, cut into passages and indexed. */
export interface Pool {
  readonly papers: readonly AskedPaper[];
  /** Keys of papers of which no text is kept: of these only records, quotes and the abstract are known. */
  readonly withoutText: readonly string[];
  readonly passages: readonly PoolPassage[];
  /** Estimated tokens of all passages. */
  readonly tokens: number;
  /** Estimated tokens of a character in each paper's passages, by its place: of Chinese, thrice those of English. */
  readonly rates: readonly number[];
  readonly vocabulary: Vocabulary;
  query(question: string): Query;
  /** The best passage of each paper and the best of all, best first. `most`: how many of all. */
  search(query: Query, most: number): { readonly perPaper: readonly Hit[]; readonly best: readonly Hit[] };
  /** What each paper as a whole is worth to a question, by its place. */
  paperScores(query: Query): Float64Array;
  textOf(place: number): Promise<AskedText | undefined>;
}

/** Words of texts that need not be cut again. */
export interface KeptTexts {
  readonly words: KeptWords;
  /** Changes with a paper's text and record; undefined where no text is kept. */
  stampOf(folder: string, paper: Paper): string | undefined;
}

/** How much title and abstract, and the whole text, of its paper count for a passage besides its own words. */
const paperShare = 0.5;
/** How much a word counts that the glossary adds. */
const glossaryWeight = 0.5;

/**
 * Opens the pool of these projects: one work that two of them hold is one paper, the first's. What is not eligible is
 * left out. Texts are read one after the other and not kept in memory; with `kept` words on the disk those alone that
 * have changed since.
 */
export async function openPool(projects: readonly AskedProject[], read: ReadText, kept?: KeptTexts): Promise<Pool> {
  const papers = papersIn(projects);
  const vocabulary = openVocabulary();
  const [byPassage, byCard, byPaper] = [textIndexBuilder(), textIndexBuilder(), textIndexBuilder()];
  const passages: PoolPassage[] = [];
  const withoutText: string[] = [];
  const rates: number[] = [];
  let tokens = 0;
  const textOf = async ({ folder, paper }: AskedPaper): Promise<AskedText | undefined> =>
    (await read(folder, paper)) ?? abstractAsText(paper);

  const loaded = new Map<string, ReadonlyMap<string, KeptPaper>>();
  for (const { folder } of kept === undefined ? [] : projects)
    loaded.set(folder, await (kept as KeptTexts).words.load(folder, vocabulary));
  const now = new Map<string, Map<string, KeptPaper>>();
  let cutAnew = 0;
  for (const [place, asked] of papers.entries()) {
    const { paper, key, folder } = asked;
    const stamp = kept?.stampOf(folder, paper);
    const before = stamp === undefined ? undefined : loaded.get(folder)?.get(paper.id);
    let words = before?.stamp === stamp ? before?.words : undefined;
    if (words === undefined) {
      const text = await read(folder, paper);
      if (text === undefined) withoutText.push(key);
      words = wordsOfPaper(paper, text ?? abstractAsText(paper), vocabulary);
      // A text that was fetched just now has another stamp than a moment ago.
      const fresh = text === undefined ? undefined : kept?.stampOf(folder, paper);
      if (fresh !== undefined) {
        cutAnew += words.passages.length;
        now.set(folder, (now.get(folder) ?? new Map<string, KeptPaper>()).set(paper.id, { stamp: fresh, words }));
      }
    } else if (before !== undefined)
      now.set(folder, (now.get(folder) ?? new Map<string, KeptPaper>()).set(paper.id, before));
    byCard.add(words.card);
    for (const each of words.ofPassages) byPassage.add(each);
    for (const passage of words.passages) passages.push({ paper: place, ...passage });
    tokens += words.tokens;
    rates.push(words.tokens / Math.max(1, charactersOf(words.passages)));
    byPaper.add(words.body);
  }
  if (kept !== undefined && cutAnew >= minPassagesKept)
    for (const [folder, all] of now) await kept.words.save(folder, all, vocabulary);
  vocabulary.forgetPieces();
  const [passageIndex, cardIndex, paperIndex] = [byPassage.build(), byCard.build(), byPaper.build()];
  const paperScores = ({ words }: Query): Float64Array => {
    const scores = new Float64Array(papers.length);
    cardIndex.score(words, paperShare, scores);
    paperIndex.score(words, paperShare, scores);
    return scores;
  };
  return {
    papers,
    withoutText,
    passages,
    tokens,
    rates,
    vocabulary,
    query: (question) => queryOf(question, projects, vocabulary, passageIndex),
    paperScores,
    search: (query, most) => hitsOf(query, most, passages, passageIndex, paperScores(query)),
    textOf: async (place) => (papers[place] === undefined ? undefined : textOf(papers[place])),
  };
}

const charactersOf = (passages: readonly Passage[]): number =>
  passages.reduce((sum, { start, end }) => sum + end - start, 0);

/** What people call the papers of a question, by what they are called in it: "lo2020", "2:lo2020". */
export const namesAsked = (papers: readonly Pick<AskedPaper, "key" | "paper">[]): ReadonlyMap<string, string> =>
  new Map(papers.map(({ key, paper }) => [key, `${key.slice(0, -paper.id.length)}${nameOf(paper)}`]));

/** The papers of all projects, each once, with what they are called in a question. */
function papersIn(projects: readonly AskedProject[]): AskedPaper[] {
  const index = workIndex();
  return projects.flatMap(({ folder, rrd }, number) =>
    rrd.papers_pool.flatMap((paper) => {
      if (isIneligible(paper)) return [];
      if (projects.length === 1) return [{ key: paper.id, folder, paper }];
      const traits = matchFeaturesOf(paper);
      if (index.twinOf(traits) !== undefined) return [];
      index.add(paper.id, traits);
      return [{ key: `${number + 1}:${paper.id}`, folder, paper }];
    }),
  );
}

/** A record's abstract as a text of its own, where it has one. */
export function abstractAsText({ abstract }: Paper): AskedText | undefined {
  if (!abstract?.trim()) return undefined;
  const sha256 = createHash("sha256").update(abstract).digest("hex");
  return { text: abstract, marks: [{ at: 0, label: abstractLocator }], sha256 };
}

/** Words that only ask. */
const asking = new Set(["how", "many", "much", "often", "long", "take", "takes", "there", "any"]);

function queryOf(question: string, projects: readonly AskedProject[], vocabulary: Vocabulary, index: TextIndex): Query {
  const words = new Map<number, number>();
  const weights: Record<string, number> = {};
  const add = (stems: readonly string[], weight: number) => {
    for (const stem of stems) {
      const id = vocabulary.known(stem);
      if (id !== undefined) words.set(id, Math.max(words.get(id) ?? 0, weight));
    }
  };
  const told = (question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !asking.has(word));
  const asked = stemsOf(told.join(" "));
  add(asked, 1);
  for (const word of told) {
    const [stem] = stemsOf(word);
    if (stem === undefined || Object.hasOwn(weights, word)) continue;
    const id = vocabulary.known(stem);
    // A word that no paper has is as rare as one can be.
    weights[word] = Math.round(100 * index.rarity(id ?? Number.MAX_SAFE_INTEGER)) / 100;
  }
  const known = new Set(asked);
  for (const { rrd } of projects)
    for (const [term, meaning] of Object.entries(rrd.domain_glossary?.terms ?? {})) {
      const sides = [stemsOf(term), stemsOf(meaning ?? "")];
      for (const [one = [], other = []] of [sides, sides.toReversed()])
        if (one.length > 0 && one.every((stem) => known.has(stem))) add(other, glossaryWeight);
    }
  return { words, weights };
}

/** The best hits in one pass over the scores: of all, `most`; and the best of each paper. */
function hitsOf(
  { words }: Query,
  most: number,
  passages: readonly PoolPassage[],
  index: TextIndex,
  ofPaper: Float64Array,
): ReturnType<Pool["search"]> {
  const scores = new Float64Array(index.size);
  index.score(words, 1, scores);
  const bestOf = new Map<number, number>();
  const total = (at: number): number => (scores[at] as number) + (ofPaper[(passages[at] as PoolPassage).paper] ?? 0);
  /** Kept sorted from time to time only: sorting every hit of a large pool takes longer than scoring it. */
  let top: number[] = [];
  let least = 0;
  for (let at = 0; at < scores.length; at += 1) {
    if (scores[at] === 0) continue;
    const score = (scores[at] = total(at));
    const { paper } = passages[at] as PoolPassage;
    const before = bestOf.get(paper);
    if (before === undefined || score > (scores[before] as number)) bestOf.set(paper, at);
    if (score <= least) continue;
    top.push(at);
    if (top.length < 4 * most) continue;
    top = top.sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b).slice(0, most);
    least = scores[top.at(-1) as number] as number;
  }
  const inOrder = (places: number[]): Hit[] =>
    places
      .sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b)
      .map((at) => ({ passage: passages[at] as PoolPassage, score: scores[at] as number }));
  return { perPaper: inOrder([...bestOf.values()]), best: inOrder(top).slice(0, most) };
}

/** Tokens of the passages in a brief; everything else has the 6,000 of every brief. */
export const passageTokens = 20_000;
/** Estimated tokens of what stands around a passage in a brief. */
const passageFrame = 14;

/**
 * The passages for a question in at most `tokens`: all of them where they fit; else in half of the room the best of
 * each paper, and the best of all in the rest. By paper, in the order of the texts.
 */
export async function passagesFor(pool: Pool, query: Query, tokens: number): Promise<FoundPassage[]> {
  const chosen = fitsWhole(pool, tokens) ? new Set(pool.passages) : chosenFor(pool, query, tokens);
  const rank = new Map([...chosen].map((passage, index) => [passage, index]));
  const shown: { readonly rank: number; readonly cost: number; readonly passage: FoundPassage }[] = [];
  const texts = new Map<number, string>();
  for (const passage of [...chosen].sort((a, b) => a.paper - b.paper || a.start - b.start)) {
    if (!texts.has(passage.paper)) {
      texts.clear();
      texts.set(passage.paper, (await pool.textOf(passage.paper))?.text ?? "");
    }
    const text = texts.get(passage.paper)?.slice(passage.start, passage.end).trim() ?? "";
    const key = pool.papers[passage.paper]?.key;
    if (text === "" || key === undefined) continue;
    shown.push({
      rank: rank.get(passage) ?? 0,
      cost: estimateTokens(text) + passageFrame,
      passage: { key, text, ...withoutUndefined({ locator: passage.locator }) },
    });
  }
  // What the passages of a paper cost on average says little of one: the last ones chosen may not fit.
  const fitting = new Set<object>();
  let room = tokens;
  for (const each of shown.toSorted((a, b) => a.rank - b.rank)) {
    room -= each.cost;
    if (room < 0) break;
    fitting.add(each);
  }
  return shown.filter((each) => fitting.has(each)).map(({ passage }) => passage);
}

const fitsWhole = (pool: Pool, tokens: number): boolean => pool.tokens + pool.passages.length * passageFrame <= tokens;

/**
 * The passages that are nearest to a question, in half of the room the best of each paper. Where no word of the
 * question is known: those that begin each paper, which mostly hold its abstract.
 */
export function chosenFor(pool: Pool, query: Query, tokens: number): Set<PoolPassage> {
  const { perPaper, best } =
    query.words.size === 0 ? { perPaper: firstOfEach(pool), best: [] } : pool.search(query, Math.ceil(tokens / 20));
  const chosen = new Set<PoolPassage>();
  let room = tokens;
  /** A passage's own words are not known before it is read; its characters are, and what those of its paper cost. */
  const costOf = ({ paper, start, end }: PoolPassage): number =>
    (end - start) * (pool.rates[paper] as number) + passageFrame;
  const take = (hits: readonly Hit[], until: number) => {
    for (const { passage } of hits) {
      if (chosen.has(passage)) continue;
      const cost = costOf(passage);
      if (room - cost < until) return;
      room -= cost;
      chosen.add(passage);
    }
  };
  take(perPaper, tokens / 2);
  take(best, 0);
  return chosen;
}

/** The two first passages of each paper. */
const firstOfEach = ({ passages }: Pool): Hit[] =>
  passages.filter(({ paper }, at) => passages[at - 2]?.paper !== paper).map((passage) => ({ passage, score: 0 }));
