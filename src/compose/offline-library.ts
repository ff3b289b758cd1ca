import type { ResolvedConfig } from "../engine/config/resolve.js";
import { systemClock } from "../engine/lib/clock.js";
import { keptHttp } from "../engine/net/cache-only-http.js";
import { paperServices } from "../research/paper-services/paper-services.js";
import { allServices } from "../research/sources/registry.js";
import { contextOf, servicesOf } from "../research/sources/source-settings.js";
import { buildText } from "../engine/documents/text/paper-text.js";
import { scholarly } from "../research/workflow/discovery/scholarly-search.js";
import type { Library } from "../research/workflow/records/state.js";
import { localSources, replayOf } from "./library.js";
import { answersFolder, documentsFolder } from "../research/folder/layout.js";

/** A library that asks nobody and writes nothing, and who would have been asked in a run. */
export interface KeptLibrary extends Library {
  /** Sources that a search would ask before the next brief is written; what is offered is then what was found so far. */
  readonly searchesFirst: () => readonly string[];
  /** Services that would be asked about the papers of the brief. */
  readonly asksFirst: () => readonly string[];
  /** Whether a paper's text would be fetched first; a line stands in its place. */
  readonly fetchesFirst: () => boolean;
}

const notYet = "(The full text of the paper goes here. It is fetched when the paper's turn comes.)";

/** Where papers come from as far as that is known already. */
export function keptLibrary(
  folder: string,
  root: string,
  config: Pick<ResolvedConfig, "sources" | "contact">,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): KeptLibrary {
  const { sources, contact } = config;
  const { now } = systemClock;
  const services = servicesOf(allServices, sources);
  const asking = { config: sources, env, ...(contact === undefined ? {} : { contact }) };

  const searched = new Set<string>();
  // The first question without an answer ends the search, as it would go on only with what the answer is.
  const ended = new AbortController();
  const searching = keptHttp({
    cacheDir: answersFolder(folder),
    services,
    now,
    missing: (source) => {
      searched.add(source);
      ended.abort();
    },
  });
  const asked = new Set<string>();
  let fetches = false;
  const servicesWith = (missing: (source: string) => void) => {
    const http = keptHttp({ cacheDir: documentsFolder(folder), services, now, missing });
    return paperServices({
      folder,
      http,
      contextFor: (source) => contextOf(source, { ...asking, http }),
      clock: systemClock,
      signal,
      keep: false,
    });
  };
  const { updates, about } = servicesWith((source) => void asked.add(source));
  const { text } = servicesWith(() => (fetches = true));
  return {
    ...localSources(root, signal),
    ...scholarly({
      folder,
      root,
      contextFor: (source) => contextOf(source, { ...asking, http: searching }),
      replay: replayOf(folder, root, config),
      now,
      signal: AbortSignal.any([signal, ended.signal]),
      keep: false,
    }),
    updates,
    about,
    async text(paper) {
      const answer = await text(paper);
      return fetches ? { text: buildText([{ text: notYet }], { kind: "markdown", depth: "full" }) } : answer;
    },
    searchesFirst: () => [...searched],
    asksFirst: () => [...asked],
    fetchesFirst: () => fetches,
  };
}
