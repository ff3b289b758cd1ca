/** The maximum number of places is at least this, also for a long needle. */
const minPlaceLimit = 64;
/** The maximum number of places is at most this, also for a short needle. */
const maxPlaceLimit = 5000;

/** Length of the beginning of the needle that `indexOf` searches: for so short a text, it takes linear time. */
const headLength = 16;
/** After so many comparisons, as a multiple of the haystack's length, the search continues with the second method. */
const maxComparedFactor = 4;

/**
 * The offsets of `needle` in `haystack`, in ascending order. The caller compares the needle at each of them, so their
 * number is limited to keep the total time linear. There are two methods. `indexOf` for the beginning of the needle is
 * ten times as fast as a loop. For a text with many repetitions it would take quadratic time; then the search continues
 * with the algorithm of Knuth, Morris and Pratt.
 */
export function* occurrences(haystack: string, needle: string): Generator<number> {
  if (needle === "" || needle.length > haystack.length) return;
  const maxPlaces = Math.min(maxPlaceLimit, minPlaceLimit + Math.floor((8 * haystack.length) / needle.length));
  const head = needle.slice(0, headLength);
  let placeCount = 0;
  let comparedChars = 0;
  let start = haystack.indexOf(head);
  for (; start !== -1 && placeCount < maxPlaces; start = haystack.indexOf(head, start + 1)) {
    comparedChars += needle.length;
    if (comparedChars > maxComparedFactor * haystack.length) break;
    if (!haystack.startsWith(needle, start)) continue;
    placeCount += 1;
    yield start;
  }
  if (start === -1 || placeCount >= maxPlaces) return;

  /** For each index of the needle: the length of the longest beginning of the needle that also ends there. */
  const borders = new Int32Array(needle.length);
  let matchedLength = 0;
  for (let index = 1; index < needle.length; index += 1) {
    const code = needle.charCodeAt(index);
    while (matchedLength > 0 && needle.charCodeAt(matchedLength) !== code)
      matchedLength = borders[matchedLength - 1] as number;
    if (needle.charCodeAt(matchedLength) === code) matchedLength += 1;
    borders[index] = matchedLength;
  }
  matchedLength = 0;
  for (let index = start; index < haystack.length && placeCount < maxPlaces; index += 1) {
    const code = haystack.charCodeAt(index);
    while (matchedLength > 0 && needle.charCodeAt(matchedLength) !== code)
      matchedLength = borders[matchedLength - 1] as number;
    if (needle.charCodeAt(matchedLength) === code) matchedLength += 1;
    if (matchedLength === needle.length) {
      placeCount += 1;
      yield index - needle.length + 1;
      matchedLength = borders[matchedLength - 1] as number;
    }
  }
}
