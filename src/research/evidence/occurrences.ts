/** Places that are looked at where a passage repeats itself without end. */
const minPlaces = 64;
const maxPlaces = 5000;

/**
 * Where `needle` stands in `haystack`, in order, by Knuth, Morris and Pratt: indexOf takes the product of both lengths
 * on texts that repeat themselves. Each place costs its finder the needle's length, so that no more are given than keep
 * the whole linear.
 */
export function* occurrences(haystack: string, needle: string): Generator<number> {
  if (needle === "" || needle.length > haystack.length) return;
  const maxGiven = Math.min(maxPlaces, minPlaces + Math.floor((8 * haystack.length) / needle.length));
  const border = new Int32Array(needle.length);
  let matched = 0;
  for (let at = 1; at < needle.length; at += 1) {
    const code = needle.charCodeAt(at);
    while (matched > 0 && needle.charCodeAt(matched) !== code) matched = border[matched - 1] as number;
    if (needle.charCodeAt(matched) === code) matched += 1;
    border[at] = matched;
  }
  matched = 0;
  let given = 0;
  for (let at = 0; at < haystack.length && given < maxGiven; at += 1) {
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
