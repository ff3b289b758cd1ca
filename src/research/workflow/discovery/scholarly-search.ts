import { sourceNamed, sourcesFor, substituteFor } from "../../sources/registry.js";
import type { Source, SourceContext } from "../../sources/client/source.js";
import { offerOf, type Searching } from "./search-session.js";
import type { Library } from "../records/state.js";

interface ScholarlyOptions extends Pick<Searching, "folder" | "replay" | "now" | "signal" | "keep" | "tell" | "watch"> {
  /** Files of `list:` sources are relative to it. */
  readonly root: string;
  readonly contextFor: (source: Source) => SourceContext | { readonly unavailable: string };
}

/** The part of a library that searches the services of the registry. */
export function scholarly({
  root,
  contextFor,
  ...searching
}: ScholarlyOptions): Pick<Library, "services" | "substitution" | "offer"> {
  const open: Searching["open"] = (name) => {
    const source = sourceNamed(name, root);
    if (source === undefined) return { unavailable: `There is no source '${name}'.` };
    const context = contextFor(source);
    return "unavailable" in context ? context : { source, context };
  };
  let asked = false;
  const isFirst = () => !asked && (asked = true);
  return {
    services: (name) =>
      sourcesFor(name, root)
        .filter(({ search }) => search !== undefined)
        .map((source) => source.name),
    substitution: (name) => substituteFor(name)?.reason,
    offer: (rrd, names) => offerOf(rrd, names, { ...searching, open, isFirst }),
  };
}
