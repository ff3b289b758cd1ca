/** Where services put the list of what they found, from the outside in. */
const lists = [["results"], ["data"], ["items"], ["message", "items"], ["resultList", "result"], ["collection"], ["web", "results"], ["hits"]];

/** How many results an answer lists, or undefined where it is no list that is known here. */
export function countResults(bytes: Uint8Array, type: string): number | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  if (/\bxml\b/.test(type) && !/html/.test(type)) {
    const isFeed = /<(?:feed|rss|rdf:RDF)[\s>]/.test(text.slice(0, 2000));
    return isFeed ? (text.match(/<(?:entry|item)[\s>]/g) ?? []).length : undefined;
  }
  if (!/json/.test(type)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value.length;
    const list = lists.map((path) => path.reduce(inside, value)).find(Array.isArray);
    return list?.length;
  } catch {
    return undefined;
  }
}

const inside = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
