import { createRequire } from "node:module";

/** What the independent reader makes of one work: CSL-JSON. */
export interface ReadWork {
  readonly id: string;
  readonly type: string;
  readonly title: string;
  readonly author?: readonly {
    readonly family?: string;
    readonly given?: string;
    readonly literal?: string;
    readonly suffix?: string;
    readonly "non-dropping-particle"?: string;
  }[];
  readonly issued?: { readonly "date-parts"?: readonly (readonly number[])[] };
  readonly DOI?: string;
  readonly URL?: string;
}

const load = createRequire(import.meta.url);
load("@citation-js/plugin-bibtex");
load("@citation-js/plugin-ris");
const { Cite } = load("@citation-js/core") as {
  Cite: new (text: unknown, options?: { readonly forceType: string }) => { readonly data: readonly ReadWork[] };
};

/** A text is told apart by the signs in it, which titles may hold too. */
const types = { bibtex: "@biblatex/text", ris: "@ris/file", csl: "@csl/list+object" };

/** Reads BibTeX, RIS or CSL-JSON with a library that is not ours. */
export function read(text: string, format: keyof typeof types = "bibtex"): readonly ReadWork[] {
  if (text.trim() === "") return [];
  return new Cite(format === "csl" ? JSON.parse(text) : text, { forceType: types[format] }).data;
}
