/**
 * The candidate that `word` was most likely meant to be, or undefined where none is near: a third of its letters may be
 * wrong. Of two that are as near, the shorter one: a letter too many is more common than a wrong one.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const other = candidate.toLowerCase();
    const isPart = wanted.length >= 3 && other.includes(wanted);
    const distance = isPart ? 1 : editDistance(wanted, other);
    if (
      distance <= Math.max(1, Math.floor(Math.max(wanted.length, isPart ? 3 : 0) / 3)) &&
      (best === undefined ||
        distance < best.distance ||
        (distance === best.distance && candidate.length < best.candidate.length))
    ) {
      best = { candidate, distance };
    }
  }
  return best?.candidate;
}

/** Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (beforeLast[j - 2] ?? 0) + 1 : Infinity;
      row.push(Math.min((row[j - 1] ?? 0) + 1, (last[j] ?? 0) + 1, (last[j - 1] ?? 0) + cost, swapped));
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
