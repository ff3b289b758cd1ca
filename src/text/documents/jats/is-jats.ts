// Recognises JATS. In a file of its own, so that reading a PDF does not load the reader of JATS.

/** Whether a document is an article in JATS, the XML format of PubMed Central and of many publishers. */
export const isJats = (text: string): boolean =>
  /^\s*(?:<\?xml[^>]*>\s*)?(?:<pmc-articleset>\s*)?<article[\s>]/i.test(withoutDoctype(text.slice(0, 5000))) &&
  /<front[\s>]/.test(text);

/**
 * The index of the ">" that ends the declaration at `start`, after the declarations in brackets if it has any; or -1.
 */
export function endOfDeclaration(xml: string, start: number): number {
  const end = xml.indexOf(">", start);
  const bracket = xml.slice(start, end).indexOf("[");
  if (end === -1 || bracket === -1) return end;
  const closingBracket = xml.indexOf("]", start + bracket);
  return closingBracket === -1 ? -1 : xml.indexOf(">", closingBracket);
}

/** Removes the first document type declaration, because it may contain "<article" too. */
function withoutDoctype(xml: string): string {
  const start = xml.search(/<!DOCTYPE/i);
  const end = start === -1 ? -1 : endOfDeclaration(xml, start);
  return end === -1 ? xml : xml.slice(0, start) + xml.slice(end + 1);
}
