import { sourceNamed, sourcesFor, substituteFor } from "../../sources/registry.js";
import type { Source, SourceContext } from "../../sources/client/source.js";
import { runSearch, type SearchOptions, searchSoFar } from "./search-session.js";
import type { KeptLibrary, Library } from "../derived/state.js";

interface ScholarlyOptions extends Pick<SearchOptions, "folder" | "replay" | "now"> {
  /** Files of `list:` sources are relative to it. */
  readonly root: string;
  readonly contextFor: (source: Source) => SourceContext | { readonly unavailable: string };
}

/** The part of a library that knows which services of the registry a source leads to. */
export const services = (root: string): Pick<Library, "services" | "substitution"> => ({
  services: (name) =>
    sourcesFor(name, root)
      .filter(({ search }) => search !== undefined)
      .map((source) => source.name),
  substitution: (name) => substituteFor(name)?.reason,
});

/** The part of a library that searches them. */
export function scholarly({
  root,
  contextFor,
  ...searching
}: ScholarlyOptions & Pick<SearchOptions, "signal" | "tell" | "watch">): Pick<
  Library,
  "services" | "substitution" | "search"
> {
  const open = opening(root, contextFor);
  let asked = false;
  const isFirst = () => !asked && (asked = true);
  return { ...services(root), search: (rrd, names) => runSearch(rrd, names, { ...searching, open, isFirst }) };
}

/** The same as far as it was searched already. */
export function keptSearch({
  root,
  contextFor,
  ...kept
}: ScholarlyOptions): Pick<KeptLibrary, "services" | "substitution" | "search"> {
  const open = opening(root, contextFor);
  return { ...services(root), search: (rrd, names) => searchSoFar(rrd, names, { ...kept, open }) };
}

const opening =
  (root: string, contextFor: ScholarlyOptions["contextFor"]): SearchOptions["open"] =>
  (name) => {
    const source = sourceNamed(name, root);
    if (source === undefined) return { unavailable: `There is no source '${name}'.` };
    const context = contextFor(source);
    return "unavailable" in context ? context : { source, context };
  };
