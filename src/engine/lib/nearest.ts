/**
 * The candidate that the user most likely meant by `word`; undefined if no candidate is similar. At most a third of the
 * letters may be wrong; a candidate that contains a `word` of three letters or more is always similar. Among equally
 * similar candidates the shortest is chosen, because an extra letter is more common than a wrong one.
 */
export function nearestCandidate(word: string, candidates: Iterable<string>): string | undefined {
  const lowerWord = word.toLowerCase();
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const lowerCandidate = candidate.toLowerCase();
    const isSubstring = lowerWord.length >= 3 && lowerCandidate.includes(lowerWord);
    const distance = isSubstring ? 1 : editDistance(lowerWord, lowerCandidate);
    if (
      distance <= Math.max(1, Math.floor(lowerWord.length / 3)) &&
      (best === undefined ||
        distance < best.distance ||
        (distance === best.distance && candidate.length < best.candidate.length))
    ) {
      best = { candidate, distance };
    }
  }
  return best?.candidate;
}

/** The number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let rowBeforePrevious: number[] = [];
  let previousRow = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapCost =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? (rowBeforePrevious[j - 2] ?? 0) + 1
          : Infinity;
      row.push(Math.min((row[j - 1] ?? 0) + 1, (previousRow[j] ?? 0) + 1, (previousRow[j - 1] ?? 0) + cost, swapCost));
    }
    rowBeforePrevious = previousRow;
    previousRow = row;
  }
  return previousRow[b.length] ?? 0;
}
