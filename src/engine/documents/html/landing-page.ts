import type { Part } from "../text/paper-text.js";

/** Headings of what surrounds a paper's body; publishers show these parts to everybody. */
const around =
  /^(?:graphical )?(?:abstracts?|summary|highlights|key ?words|key points|references?|bibliography|literature cited|footnotes|cited by|citing|citations?|how to cite|similar|related|recommended|more from|suggested|about (?:this|the)|authors?|contributors|affiliations?|acknowledg|funding|ethics|competing|conflicts? of|declarations|data availability|rights|permissions?|copyright|licen[cs]e|additional information|supplement|supporting information|electronic supp|extended data|get access|access (?:this|through|options)|buy|purchase|subscribe|log ?in|sign in|preview|section snippets|table of contents|download|full text|export|share|metrics|altmetric|submission history|publication history|bookmarks?|code, data|browse|quick links|associated data|corresponding author|cookies?)\b/i;
const aroundWhole =
  /^(?:access|outline|contents|figures?|tables?|notes|subjects?|history|versions?|comments?|reviews?|search|menu|navigation|links?|information|details|journal|volume|issue|help|contact|privacy|cite|rent)$/i;

/** Characters of body below which a page only shows a paper: previews run to some four thousand. */
const leastBody = 6000;

/**
 * Whether a page about a paper carries the paper's body: two sections of its own and enough text in them, or as much text before any
 * heading. A long list of references is no body.
 */
export function holdsBody(parts: readonly Part[]): boolean {
  const own = parts.filter(({ label, text }) => label !== undefined && !isAround(plain(label)) && text.length >= 300);
  const lead = parts.filter(({ label }) => label === undefined);
  return (own.length >= 2 && length(own) >= leastBody) || length(lead) >= leastBody;
}

const isAround = (heading: string): boolean => around.test(heading) || aroundWhole.test(heading);
const length = (parts: readonly Part[]): number => parts.reduce((sum, { text }) => sum + text.length, 0);
/** Without the section mark and number. */
const plain = (label: string): string => label.replace(/^§ (?:(?:\d+(?:\.\d+)*|[IVX]+)\.? )?/, "");
