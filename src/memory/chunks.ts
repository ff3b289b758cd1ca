/** Characters of a chunk at most, and how many of them the next chunk repeats. */
const chunkLength = 1000;
const overlap = 150;

/**
 * A text cut at the ends of sentences into chunks of at most 1,000 characters. Each repeats the last whole sentences of
 * the one before, up to 150 characters, so that what is said over a cut is found too. A sentence that is longer is cut
 * at a space.
 */
export function chunksOf(text: string): string[] {
  const sentences = sentencesOf(text.trim());
  const chunks: string[] = [];
  let current: string[] = [];
  let length = 0;
  for (const sentence of sentences) {
    if (length > 0 && length + sentence.length > chunkLength) {
      chunks.push(current.join("").trim());
      const kept: string[] = [];
      let room = Math.min(overlap, chunkLength - sentence.length);
      for (const last of current.toReversed()) {
        if (last.length > room) break;
        kept.unshift(last);
        room -= last.length;
      }
      current = kept;
      length = kept.reduce((sum, each) => sum + each.length, 0);
    }
    current.push(sentence);
    length += sentence.length;
  }
  if (length > 0) chunks.push(current.join("").trim());
  return chunks.filter((chunk) => chunk !== "");
}

/** Sentences with the white space behind them; none longer than a chunk. */
function sentencesOf(text: string): string[] {
  const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment).flatMap(pieces);
}

function pieces(sentence: string): string[] {
  const cut: string[] = [];
  let rest = sentence;
  while (rest.length > chunkLength) {
    const space = rest.lastIndexOf(" ", chunkLength);
    const at = space > chunkLength / 2 ? space + 1 : chunkLength;
    cut.push(rest.slice(0, at));
    rest = rest.slice(at);
  }
  return [...cut, rest];
}
