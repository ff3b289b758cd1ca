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
import { type StoredPaper, type WordStore, minStoredPassages } from "./stored-words.js";
import { paperWords } from "./paper-words.js";
import type { Passage } from "./passages.js";
import { openVocabulary, type TextIndex, textIndexBuilder, type Vocabulary } from "./text-index.js";

/** A project for a question. */
export interface AskedProject {
  /** Absolute path. */
  readonly folder: string;
  readonly rrd: Rrd;
}

/** A paper for a question. */
export interface AskedPaper {
  /** Its id. With several projects, preceded by the project's number: 2:sample_01. */
  readonly key: string;
  readonly folder: string;
  readonly paper: Paper;
}

/** The text in which quotes are searched. */
export type AskedText = Pick<DocumentText, "text" | "marks" | "sha256">;

/** Reads the stored text of a paper; undefined if it is missing. */
export type ReadText = (folder: string, paper: Paper) => Promise<AskedText | undefined>;

/** A passage of a paper by offsets into its text. */
export interface PoolPassage {
  /** The paper's index in the pool. */
  readonly paper: number;
  readonly start: number;
  readonly end: number;
  readonly locator?: string;
}

/** A passage with its BM25 score, which has no absolute meaning. */
export interface Hit {
  readonly passage: PoolPassage;
  readonly score: number;
}

/** The words of a question with their weights in a pool. */
export interface Query {
  /** The weights by the numbers of the words. */
  readonly words: ReadonlyMap<number, number>;
  /** The distinctive words as written in the question, with their rarity among the passages. */
  readonly weights: Readonly<Record<string, number>>;
}

/** The papers of the projects, in passages and indexed. */
export interface Pool {
  readonly papers: readonly AskedPaper[];
  /** Keys of papers without a stored text. Only their records, quotes and abstracts are known. */
  readonly withoutText: readonly string[];
  readonly passages: readonly PoolPassage[];
  /** Estimated tokens of all passages. */
  readonly tokens: number;
  /**
   * Estimated tokens per character of each paper's passages, by its index. In Chinese it is three times that of
   * English.
   */
  readonly tokensPerChar: readonly number[];
  readonly vocabulary: Vocabulary;
  query(question: string): Query;
  /** The best passage of each paper, and the `maxHits` best of all, best first. */
  search(query: Query, maxHits: number): { readonly perPaper: readonly Hit[]; readonly best: readonly Hit[] };
  /** The score of each paper as a whole, by its index. */
  paperScores(query: Query): Float64Array;
  textOf(paperIndex: number): Promise<AskedText | undefined>;
}

/** The stored words of texts. */
export interface StoredTexts {
  readonly words: WordStore;
  /** Changes with a paper's text and record; undefined if no text is stored. */
  stampOf(folder: string, paper: Paper): string | undefined;
}

/** The weight of title and abstract, and of the complete text, for the score of a passage. */
const paperWeight = 0.5;
/** The weight of words that the glossary adds. */
const glossaryWeight = 0.5;

/**
 * Opens the pool of these projects. If two projects have the same work, the paper of the first one is used. Ineligible
 * papers are left out. Texts are read one after the other and not kept in memory. With `storedTexts`, only texts that
 * have changed are read.
 */
export async function openPool(
  projects: readonly AskedProject[],
  read: ReadText,
  storedTexts?: StoredTexts,
): Promise<Pool> {
  const papers = papersIn(projects);
  const vocabulary = openVocabulary();
  const [passageBuilder, cardBuilder, paperBuilder] = [textIndexBuilder(), textIndexBuilder(), textIndexBuilder()];
  const passages: PoolPassage[] = [];
  const withoutText: string[] = [];
  const tokensPerChar: number[] = [];
  let tokens = 0;
  const textOf = async ({ folder, paper }: AskedPaper): Promise<AskedText | undefined> =>
    (await read(folder, paper)) ?? abstractAsText(paper);

  const storedByFolder = new Map<string, ReadonlyMap<string, StoredPaper>>();
  for (const { folder } of storedTexts === undefined ? [] : projects)
    storedByFolder.set(folder, await (storedTexts as StoredTexts).words.load(folder, vocabulary));
  const currentByFolder = new Map<string, Map<string, StoredPaper>>();
  let newPassages = 0;
  for (const [paperIndex, poolPaper] of papers.entries()) {
    const { paper, key, folder } = poolPaper;
    const stamp = storedTexts?.stampOf(folder, paper);
    const stored = stamp === undefined ? undefined : storedByFolder.get(folder)?.get(paper.id);
    let words = stored?.stamp === stamp ? stored?.words : undefined;
    if (words === undefined) {
      const text = await read(folder, paper);
      if (text === undefined) withoutText.push(key);
      words = paperWords(paper, text ?? abstractAsText(paper), vocabulary);
      // A text that was fetched just now has a new stamp.
      const newStamp = text === undefined ? undefined : storedTexts?.stampOf(folder, paper);
      if (newStamp !== undefined) {
        newPassages += words.passages.length;
        currentByFolder.set(
          folder,
          (currentByFolder.get(folder) ?? new Map<string, StoredPaper>()).set(paper.id, { stamp: newStamp, words }),
        );
      }
    } else if (stored !== undefined)
      currentByFolder.set(
        folder,
        (currentByFolder.get(folder) ?? new Map<string, StoredPaper>()).set(paper.id, stored),
      );
    cardBuilder.add(words.card);
    for (const passageWords of words.passageWords) passageBuilder.add(passageWords);
    for (const passage of words.passages) passages.push({ paper: paperIndex, ...passage });
    tokens += words.tokens;
    tokensPerChar.push(words.tokens / Math.max(1, charactersOf(words.passages)));
    paperBuilder.add(words.body);
  }
  if (storedTexts !== undefined && newPassages >= minStoredPassages)
    for (const [folder, storedPapers] of currentByFolder)
      await storedTexts.words.save(folder, storedPapers, vocabulary);
  vocabulary.forgetPieces();
  const [passageIndex, cardIndex, paperIndex] = [passageBuilder.build(), cardBuilder.build(), paperBuilder.build()];
  const paperScores = ({ words }: Query): Float64Array => {
    const scores = new Float64Array(papers.length);
    cardIndex.score(words, paperWeight, scores);
    paperIndex.score(words, paperWeight, scores);
    return scores;
  };
  return {
    papers,
    withoutText,
    passages,
    tokens,
    tokensPerChar,
    vocabulary,
    query: (question) => queryOf(question, projects, vocabulary, passageIndex),
    paperScores,
    search: (query, maxHits) => hitsOf(query, maxHits, passages, passageIndex, paperScores(query)),
    textOf: async (paperIndex) => (papers[paperIndex] === undefined ? undefined : textOf(papers[paperIndex])),
  };
}

const charactersOf = (passages: readonly Passage[]): number =>
  passages.reduce((sum, { start, end }) => sum + end - start, 0);

/** The names of the papers of a question, by their keys: "lo2020", "2:lo2020". */
export const namesByKey = (papers: readonly Pick<AskedPaper, "key" | "paper">[]): ReadonlyMap<string, string> =>
  new Map(papers.map(({ key, paper }) => [key, `${key.slice(0, -paper.id.length)}${nameOf(paper)}`]));

/** The papers of all projects without duplicates, with their keys. */
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

/** A record's abstract as a text, if there is one. */
export function abstractAsText({ abstract }: Paper): AskedText | undefined {
  if (!abstract?.trim()) return undefined;
  const sha256 = createHash("sha256").update(abstract).digest("hex");
  return { text: abstract, marks: [{ at: 0, label: abstractLocator }], sha256 };
}

/** Words that only make a question. */
const questionWords = new Set(["how", "many", "much", "often", "long", "take", "takes", "there", "any"]);

function queryOf(question: string, projects: readonly AskedProject[], vocabulary: Vocabulary, index: TextIndex): Query {
  const words = new Map<number, number>();
  const weights: Record<string, number> = {};
  const add = (stems: readonly string[], weight: number) => {
    for (const stem of stems) {
      const id = vocabulary.findNumber(stem);
      if (id !== undefined) words.set(id, Math.max(words.get(id) ?? 0, weight));
    }
  };
  const distinctiveWords = (question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter(
    (word) => !questionWords.has(word),
  );
  const questionStems = stemsOf(distinctiveWords.join(" "));
  add(questionStems, 1);
  for (const word of distinctiveWords) {
    const [stem] = stemsOf(word);
    if (stem === undefined || Object.hasOwn(weights, word)) continue;
    const id = vocabulary.findNumber(stem);
    // A word that is in no paper has the maximum rarity.
    weights[word] = Math.round(100 * index.rarity(id ?? Number.MAX_SAFE_INTEGER)) / 100;
  }
  const knownStems = new Set(questionStems);
  for (const { rrd } of projects)
    for (const [term, meaning] of Object.entries(rrd.domain_glossary?.terms ?? {})) {
      const sides = [stemsOf(term), stemsOf(meaning ?? "")];
      for (const [side = [], otherSide = []] of [sides, sides.toReversed()])
        if (side.length > 0 && side.every((stem) => knownStems.has(stem))) add(otherSide, glossaryWeight);
    }
  return { words, weights };
}

/** The best hits in one pass over the scores: the `maxHits` best of all, and the best of each paper. */
function hitsOf(
  { words }: Query,
  maxHits: number,
  passages: readonly PoolPassage[],
  index: TextIndex,
  paperScores: Float64Array,
): ReturnType<Pool["search"]> {
  const scores = new Float64Array(index.size);
  index.score(words, 1, scores);
  const bestByPaper = new Map<number, number>();
  const totalScore = (position: number): number =>
    (scores[position] as number) + (paperScores[(passages[position] as PoolPassage).paper] ?? 0);
  /** The best hits so far. They are sorted seldom: sorting all hits of a large pool takes longer than scoring them. */
  let top: number[] = [];
  let minScore = 0;
  for (let position = 0; position < scores.length; position += 1) {
    if (scores[position] === 0) continue;
    const score = (scores[position] = totalScore(position));
    const { paper } = passages[position] as PoolPassage;
    const previous = bestByPaper.get(paper);
    if (previous === undefined || score > (scores[previous] as number)) bestByPaper.set(paper, position);
    if (score <= minScore) continue;
    top.push(position);
    if (top.length < 4 * maxHits) continue;
    top = top.sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b).slice(0, maxHits);
    minScore = scores[top.at(-1) as number] as number;
  }
  const sortedHits = (places: number[]): Hit[] =>
    places
      .sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b)
      .map((position) => ({ passage: passages[position] as PoolPassage, score: scores[position] as number }));
  return { perPaper: sortedHits([...bestByPaper.values()]), best: sortedHits(top).slice(0, maxHits) };
}

/** Maximum tokens of the passages in a brief. Everything else has the 6,000 tokens of every brief. */
export const maxPassageTokens = 20_000;
/** Estimated tokens of the lines around a passage in a brief. */
const passageFrameTokens = 14;

/**
 * The passages for a question, in at most `tokens` tokens. All of them, if they fit; otherwise half of the tokens are
 * for the best passage of each paper, and the rest for the best of all. Sorted by paper and place.
 */
export async function passagesFor(pool: Pool, query: Query, tokens: number): Promise<FoundPassage[]> {
  const chosenPassages = fitsCompletely(pool, tokens) ? new Set(pool.passages) : choosePassages(pool, query, tokens);
  const rank = new Map([...chosenPassages].map((passage, index) => [passage, index]));
  const candidates: { readonly rank: number; readonly cost: number; readonly passage: FoundPassage }[] = [];
  const texts = new Map<number, string>();
  for (const passage of [...chosenPassages].sort((a, b) => a.paper - b.paper || a.start - b.start)) {
    if (!texts.has(passage.paper)) {
      texts.clear();
      texts.set(passage.paper, (await pool.textOf(passage.paper))?.text ?? "");
    }
    const text = texts.get(passage.paper)?.slice(passage.start, passage.end).trim() ?? "";
    const key = pool.papers[passage.paper]?.key;
    if (text === "" || key === undefined) continue;
    candidates.push({
      rank: rank.get(passage) ?? 0,
      cost: estimateTokens(text) + passageFrameTokens,
      passage: { key, text, ...withoutUndefined({ locator: passage.locator }) },
    });
  }
  // The costs were estimated from the average of each paper, so the last passages may not fit.
  const fittingCandidates = new Set<object>();
  let freeTokens = tokens;
  for (const candidate of candidates.toSorted((a, b) => a.rank - b.rank)) {
    freeTokens -= candidate.cost;
    if (freeTokens < 0) break;
    fittingCandidates.add(candidate);
  }
  return candidates.filter((candidate) => fittingCandidates.has(candidate)).map(({ passage }) => passage);
}

const fitsCompletely = (pool: Pool, tokens: number): boolean =>
  pool.tokens + pool.passages.length * passageFrameTokens <= tokens;

/**
 * The passages nearest to a question, with half of the tokens for the best of each paper. If no word of the question is
 * known, the first passages of each paper, which usually contain its abstract.
 */
export function choosePassages(pool: Pool, query: Query, tokens: number): Set<PoolPassage> {
  const { perPaper, best } =
    query.words.size === 0 ? { perPaper: firstOfEach(pool), best: [] } : pool.search(query, Math.ceil(tokens / 20));
  const chosenPassages = new Set<PoolPassage>();
  let freeTokens = tokens;
  /** The tokens of a passage are estimated from its characters and the rate of its paper. */
  const costOf = ({ paper, start, end }: PoolPassage): number =>
    (end - start) * (pool.tokensPerChar[paper] as number) + passageFrameTokens;
  const addHits = (hits: readonly Hit[], minFree: number) => {
    for (const { passage } of hits) {
      if (chosenPassages.has(passage)) continue;
      const cost = costOf(passage);
      if (freeTokens - cost < minFree) return;
      freeTokens -= cost;
      chosenPassages.add(passage);
    }
  };
  addHits(perPaper, tokens / 2);
  addHits(best, 0);
  return chosenPassages;
}

/** The first two passages of each paper. */
const firstOfEach = ({ passages }: Pool): Hit[] =>
  passages.filter(({ paper }, index) => passages[index - 2]?.paper !== paper).map((passage) => ({ passage, score: 0 }));
