/** What is used of the library, which brings no types. */
declare module "@citation-js/core" {
  export const plugins: {
    readonly input: {
      /** CSL-JSON of an input of this type; throws a SyntaxError for a text that breaks its grammar. */
      chain(
        input: string,
        options: { readonly forceType: string; readonly generateGraph: boolean },
      ): readonly Readonly<Record<string, unknown>>[];
    };
  };
}
declare module "@citation-js/plugin-bibtex" {}
declare module "@citation-js/plugin-ris" {}
