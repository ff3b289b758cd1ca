import type { QueryLine } from "../generated/query.js";
import type { Open } from "./listing.js";
import { sourceNamed } from "./registry.js";
import { replayHttp } from "./replay-http.js";
import { serviceOf, type SourcesConfig } from "./source-settings.js";

/** Sources that answer as a log says they did, and what it can't answer. */
export interface ReplayedSources {
  readonly open: Open;
  /** One sentence for each question without an answer. */
  readonly missing: () => readonly string[];
}

/** Keys and addresses have no part in what is replayed, but some clients ask nothing without them. */
const standIns = { key: "replayed", contact: "replayed@localhost" };

/** Opens the sources for a replay: addresses are those of the configuration, keys are not needed, and nothing is asked of the network. */
export function replayedSources(
  lines: readonly QueryLine[],
  { cacheDir, config, root }: { readonly cacheDir: string; readonly config: SourcesConfig; readonly root: string },
): ReplayedSources {
  const http = replayHttp(lines, cacheDir);
  const asked = new Set(lines.map(({ source }) => source));
  return {
    missing: http.missing,
    open(name) {
      const source = sourceNamed(name, root);
      if (source === undefined) return { unavailable: `There is no source '${name}' any more.` };
      // For want of a key, or turned off: it brought nothing then and brings nothing now.
      if (!asked.has(source.name) && !isLocal(name)) return { unavailable: `${name} was not asked.` };
      return { source, context: { http, endpoint: serviceOf(source, config).endpoint, ...standIns } };
    },
  };
}

/** A list of ids is read from the disk and has no line in the log; what it looks up has. */
const isLocal = (name: string): boolean => /^(?:feed|list):/i.test(name);
