/** A word or phrase of a query, without operators and special characters of one service's query language. */
export interface Term {
  readonly text: string;
  /** True for text in quotation marks and for words with a hyphen: services search for the parts together. */
  readonly isPhrase: boolean;
}

const maxTerms = 20;

/** Splits `Query.terms` into words and quoted phrases. Case and accents stay. */
export function termsOf(query: string): readonly Term[] {
  const terms: Term[] = [];
  for (const [, quoted, word = ""] of query.slice(0, 1000).matchAll(/["“”]([^"“”]*)["“”]|([^\s"“”]+)/g)) {
    const parts = (quoted ?? word)
      .split(/[^\p{L}\p{N}\p{M}.+#]+/u)
      .map((part) => part.replace(/^[.+#]+|(?<!\.)\.+$/g, ""));
    const text = parts.filter((part) => part !== "").join(" ");
    if (text === "" || (quoted === undefined && /^(?:AND|OR|NOT|ANDNOT)$/.test(text))) continue;
    terms.push({ text, isPhrase: text.includes(" ") });
  }
  return terms.slice(0, maxTerms);
}

/** All terms on one line, for services without a query language. */
export const plainTerms = (terms: string): string =>
  termsOf(terms)
    .map(({ text }) => text)
    .join(" ");
