import { compareRecords } from "./same-work.js";
import { blockKeys, type MatchFeatures } from "./match-features.js";

/** Known works. A new work is compared with only a few of them. */
interface WorkIndex {
  add(id: string, features: MatchFeatures): void;
  /**
   * The first added work that is the same work, and why. Ids for which `isCandidate` is false are skipped.
   */
  twinOf(
    features: MatchFeatures,
    isCandidate?: (id: string) => boolean,
  ): { readonly id: string; readonly why: string } | undefined;
}

/** Maximum number of works in a block. Only blocks for similar titles, such as "Study number …", are larger. */
const maxBlockSize = 100;

/** Makes an empty index of works. */
export function workIndex(): WorkIndex {
  const works: { readonly id: string; readonly traits: MatchFeatures }[] = [];
  const blocks = new Map<string, number[]>();
  return {
    add(id, features) {
      const index = works.push({ id, traits: features }) - 1;
      for (const key of keysOf(features)) {
        const block = blocks.get(key);
        if (block === undefined) blocks.set(key, [index]);
        else if (block.length < maxBlockSize) block.push(index);
      }
    },
    twinOf(features, isCandidate = () => true) {
      const candidates = new Set([...keysOf(features)].flatMap((key) => blocks.get(key) ?? []));
      for (const index of [...candidates].sort((a, b) => a - b)) {
        const work = works[index];
        if (work === undefined || !isCandidate(work.id)) continue;
        const answer = compareRecords(work.traits, features);
        if (answer.same) return { id: work.id, why: answer.why };
      }
      return undefined;
    },
  };
}

/** Keys for blocking, also with the first two words of the title, because the other title may be longer. */
function keysOf(features: MatchFeatures): Set<string> {
  const firstWords = features.title?.words.filter((word) => word.length > 3).slice(0, 2) ?? [];
  return new Set([
    ...blockKeys(features),
    ...(firstWords.length < 2 ? [] : [`start ${firstWords.join(" ")} ${features.authors.surname ?? ""}`]),
  ]);
}
