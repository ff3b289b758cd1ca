import { type KeptQuote, notesOf, placesIn } from "./quoted.js";

/** What a reader should know of words that were found, where an earlier version kept them without their sentence. */
export const notesOfOld = ({ passage, quote }: KeptQuote): readonly string[] =>
  passage !== undefined || quote === undefined || quote === "" ? [] : notesOf({ claim: "", quote, status: "verified" });

/** Whether some of the places of the quoted words lie outside of their passage, or not one behind the other. */
export function hasPlacesOutside({ passage, quoted = "" }: KeptQuote): boolean {
  if (passage === undefined) return false;
  let done = 0;
  for (const [from, to] of placesIn(quoted)) {
    if (from < done || to <= from || to > passage.length) return true;
    done = to;
  }
  return false;
}
