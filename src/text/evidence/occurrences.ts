/** Places that are looked at where a passage repeats itself without end. */
const minPlaces = 64;
const maxPlaces = 5000;

/** Units of the beginning of a needle that the engine looks for: its search stays linear for so short a one. */
const headLength = 16;
/** Times the haystack's length that may be compared behind a needle's beginning before the other search takes over. */
const maxCompared = 4;

/**
 * Where `needle` stands in `haystack`, in order. Each place costs its finder the needle's length, so that no more are
 * given than keep the whole linear. Most texts don't repeat themselves: the engine's own search finds the needle's
 * beginning, ten times as fast as a loop. On those that do it would take the product of both lengths, so that Knuth,
 * Morris and Pratt go on from there.
 */
export function* occurrences(haystack: string, needle: string): Generator<number> {
  if (needle === "" || needle.length > haystack.length) return;
  const maxGiven = Math.min(maxPlaces, minPlaces + Math.floor((8 * haystack.length) / needle.length));
  const head = needle.slice(0, headLength);
  let given = 0;
  let compared = 0;
  let from = haystack.indexOf(head);
  for (; from !== -1 && given < maxGiven; from = haystack.indexOf(head, from + 1)) {
    compared += needle.length;
    if (compared > maxCompared * haystack.length) break;
    if (!haystack.startsWith(needle, from)) continue;
    given += 1;
    yield from;
  }
  if (from === -1 || given >= maxGiven) return;

  const border = new Int32Array(needle.length);
  let matched = 0;
  for (let at = 1; at < needle.length; at += 1) {
    const code = needle.charCodeAt(at);
    while (matched > 0 && needle.charCodeAt(matched) !== code) matched = border[matched - 1] as number;
    if (needle.charCodeAt(matched) === code) matched += 1;
    border[at] = matched;
  }
  matched = 0;
  for (let at = from; at < haystack.length && given < maxGiven; at += 1) {
    const code = haystack.charCodeAt(at);
    while (matched > 0 && needle.charCodeAt(matched) !== code) matched = border[matched - 1] as number;
    if (needle.charCodeAt(matched) === code) matched += 1;
    if (matched === needle.length) {
      given += 1;
      yield at - needle.length + 1;
      matched = border[matched - 1] as number;
    }
  }
}
