const elisionMark =
  /\[\s{0,3}(?:[…⋯‥]{1,2}|\.\s?\.\s?\.)\s{0,3}\]|\(\s{0,3}(?:[…⋯‥]|\.\.\.)\s{0,3}\)|[…‥]|\.\s?\.\s?\.{1,6}/;

/**
 * The fragments of a quote with `…`, `...` or `[...]` in it; one where it has none. Marks that follow each other are
 * one.
 */
export const fragmentsOf = (quote: string): string[] =>
  quote
    .split(elisionMark)
    // "in […]. The rest" closes the sentence that it cuts: the stop is not part of the next.
    .map((fragment, index) => (index === 0 ? fragment : fragment.replace(/^\s{0,3}[.;,:]\s{1,3}/, "")))
    .filter((fragment) => /[\p{L}\p{N}\p{Sm}]/u.test(fragment));

/** Whether a quote has a mark for words left out. */
export const isElided = (quote: string): boolean => elisionMark.test(quote);
