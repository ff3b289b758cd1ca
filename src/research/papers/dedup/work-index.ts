import { compareRecords } from "./same-work.js";
import { blockKeys, type MatchFeatures } from "./match-features.js";

/** Works that a new one may be the same as. Whatever their number, a new one is compared with few of them. */
interface WorkIndex {
  add(id: string, traits: MatchFeatures): void;
  /**
   * The first that was added of those that are the same work, and why. `mayBe`: not asked about ids for which it is
   * false.
   */
  twinOf(
    traits: MatchFeatures,
    mayBe?: (id: string) => boolean,
  ): { readonly id: string; readonly why: string } | undefined;
}

/** Past so many works of one block lie only titles that begin alike, such as "Study number …". */
const maxBlockSize = 100;

/** Keeps works under what two records of one work share. */
export function workIndex(): WorkIndex {
  const works: { readonly id: string; readonly traits: MatchFeatures }[] = [];
  const blocks = new Map<string, number[]>();
  return {
    add(id, traits) {
      const index = works.push({ id, traits }) - 1;
      for (const key of keysOf(traits)) {
        const block = blocks.get(key);
        if (block === undefined) blocks.set(key, [index]);
        else if (block.length < maxBlockSize) block.push(index);
      }
    },
    twinOf(traits, mayBe = () => true) {
      const near = new Set([...keysOf(traits)].flatMap((key) => blocks.get(key) ?? []));
      for (const index of [...near].sort((a, b) => a - b)) {
        const work = works[index];
        if (work === undefined || !mayBe(work.id)) continue;
        const answer = compareRecords(work.traits, traits);
        if (answer.same) return { id: work.id, why: answer.why };
      }
      return undefined;
    },
  };
}

/** What two records of one work share; of a title that goes on in the other, its first words. */
function keysOf(traits: MatchFeatures): Set<string> {
  const first = traits.title?.words.filter((word) => word.length > 3).slice(0, 2) ?? [];
  return new Set([
    ...blockKeys(traits),
    ...(first.length < 2 ? [] : [`start ${first.join(" ")} ${traits.authors.surname ?? ""}`]),
  ]);
}
