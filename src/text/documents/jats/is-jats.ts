// Tells JATS by its beginning, apart from its reader, which a PDF need not wait for.
/** Whether a document is an article in JATS, the XML of PubMed Central and of many publishers. */
export const isJats = (text: string): boolean =>
  /^\s*(?:<\?xml[^>]*>\s*)?(?:<pmc-articleset>\s*)?<article[\s>]/i.test(withoutDoctype(text.slice(0, 5000))) &&
  /<front[\s>]/.test(text);

/** Where a document type ends, with what it declares between brackets. */
export function endOfDeclaration(xml: string, from: number): number {
  const end = xml.indexOf(">", from);
  const bracket = xml.slice(from, end).indexOf("[");
  if (end === -1 || bracket === -1) return end;
  const inner = xml.indexOf("]", from + bracket);
  return inner === -1 ? -1 : xml.indexOf(">", inner);
}

/** Declarations may hold the word that a document is told by. Only the first is looked at. */
function withoutDoctype(xml: string): string {
  const at = xml.search(/<!DOCTYPE/i);
  const end = at === -1 ? -1 : endOfDeclaration(xml, at);
  return end === -1 ? xml : xml.slice(0, at) + xml.slice(end + 1);
}
