/**
 * A query's words and phrases, without the operators and marks that mean something to one service and break another.
 */
export interface Term {
  readonly text: string;
  /** In quotation marks, or a word with a hyphen: its parts belong together. */
  readonly isPhrase: boolean;
}

const maxTerms = 20;

/** The terms of `Query.terms`: words, and what stands in quotation marks. Case and accents stay. */
export function termsOf(terms: string): readonly Term[] {
  const found: Term[] = [];
  for (const [, quoted, word = ""] of terms.slice(0, 1000).matchAll(/["“”]([^"“”]*)["“”]|([^\s"“”]+)/g)) {
    const parts = (quoted ?? word)
      .split(/[^\p{L}\p{N}\p{M}.+#]+/u)
      .map((part) => part.replace(/^[.+#]+|(?<!\.)\.+$/g, ""));
    const text = parts.filter((part) => part !== "").join(" ");
    if (text === "" || (quoted === undefined && /^(?:AND|OR|NOT|ANDNOT)$/.test(text))) continue;
    found.push({ text, isPhrase: text.includes(" ") });
  }
  return found.slice(0, maxTerms);
}

/** All words in one line, for services that want nothing else. */
export const plainTerms = (terms: string): string =>
  termsOf(terms)
    .map(({ text }) => text)
    .join(" ");
