/** Maximum number of characters of a chunk. */
const maxChunkChars = 1000;
/** Maximum number of characters that the next chunk repeats. */
const maxOverlapChars = 150;

/**
 * Splits a text at the ends of sentences into chunks of at most 1,000 characters. Each chunk repeats the last complete
 * sentences of the previous chunk, up to 150 characters, so that a statement at the border of two chunks is found too.
 * A sentence that is longer than a chunk is split at a space.
 */
export function chunksOf(text: string): string[] {
  const sentences = sentencesOf(text.trim());
  const chunks: string[] = [];
  let current: string[] = [];
  let length = 0;
  for (const sentence of sentences) {
    if (length > 0 && length + sentence.length > maxChunkChars) {
      chunks.push(current.join("").trim());
      const repeatedSentences: string[] = [];
      let remainingChars = Math.min(maxOverlapChars, maxChunkChars - sentence.length);
      for (const earlierSentence of current.toReversed()) {
        if (earlierSentence.length > remainingChars) break;
        repeatedSentences.unshift(earlierSentence);
        remainingChars -= earlierSentence.length;
      }
      current = repeatedSentences;
      length = repeatedSentences.reduce((sum, text) => sum + text.length, 0);
    }
    current.push(sentence);
    length += sentence.length;
  }
  if (length > 0) chunks.push(current.join("").trim());
  return chunks.filter((chunk) => chunk !== "");
}

/** The sentences, with the white space after them. A sentence that is longer than a chunk is split. */
function sentencesOf(text: string): string[] {
  const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment).flatMap(splitSentence);
}

function splitSentence(sentence: string): string[] {
  const parts: string[] = [];
  let remaining = sentence;
  while (remaining.length > maxChunkChars) {
    const space = remaining.lastIndexOf(" ", maxChunkChars);
    const splitIndex = space > maxChunkChars / 2 ? space + 1 : maxChunkChars;
    parts.push(remaining.slice(0, splitIndex));
    remaining = remaining.slice(splitIndex);
  }
  return [...parts, remaining];
}
