import { normalTitle } from "../normalise-title.js";

/** Share of two titles' words that both have. A subtitle cut short leaves some 0.8; another work on the same matter comes to 0.5. */
const least = 0.75;

/**
 * Whether a title that a search gave is the one that was asked for: searches by title always give something. Numbers must agree: "part 1"
 * is not "part 2".
 */
export function isTitle(asked: string, found: string): boolean {
  const [a, b] = [wordsOf(asked), wordsOf(found)];
  if (a.size === 0 || b.size === 0) return false;
  const numbers = (words: ReadonlySet<string>) => [...words].filter((word) => /^(?:\d+|[ivx]+)$/.test(word));
  if (numbers(a).some((number) => !b.has(number)) || numbers(b).some((number) => !a.has(number))) return false;
  const both = [...a].filter((word) => b.has(word)).length;
  return both / (a.size + b.size - both) >= least;
}

const wordsOf = (title: string): ReadonlySet<string> => new Set(normalTitle(title).split(" ").filter(Boolean));
