import type { QueryLine } from "../../engine/generated/query.js";
import type { Open } from "./result-list.js";
import { keyOfLine } from "../../net/request-log.js";
import { isOwnList } from "../papers/records/own-list.js";
import { sourceNamed } from "../sources/registry.js";
import { replayHttp } from "../../net/replay-http.js";
import type { ContextFor, Source, SourceContext } from "../sources/shared/source.js";
import { serviceOf, type SourcesConfig } from "../sources/source-settings.js";

/** Sources that answer as a log says they did, and what it can't answer. */
export interface ReplayedSources {
  readonly open: Open;
  /** One sentence for each question without an answer. */
  readonly missing: () => readonly string[];
}

/** Keys and addresses have no part in what is replayed, but some clients ask nothing without them. */
const standIns = { key: "replayed", contact: "replayed@localhost" };

/**
 * Opens the sources for a replay: addresses are those of the configuration, keys are not needed, and nothing is asked
 * of the network.
 */
function replayedSources(
  lines: readonly QueryLine[],
  { cacheDir, config, root }: { readonly cacheDir: string; readonly config: SourcesConfig; readonly root: string },
): ReplayedSources {
  const http = replayHttp(lines, cacheDir);
  const asked = new Set(lines.map(({ source }) => source));
  const contextOf = (source: Source): SourceContext => ({
    http,
    endpoint: serviceOf(source, config).endpoint,
    contextFor,
    ...standIns,
  });
  // For want of a key, or turned off: it brought nothing then and brings nothing now.
  const contextFor: ContextFor = (source) =>
    asked.has(source.name) ? contextOf(source) : { unavailable: `${source.name} was not asked.` };
  /** Sources that were asked then, such as those of a plugin. */
  const gone = new Set<string>();
  return {
    missing: () => [...gone, ...http.missing()],
    open(name) {
      const source = sourceNamed(name, root);
      if (source === undefined) {
        const unavailable = `There is no source '${name}' any more.`;
        if (asked.has(name)) gone.add(unavailable);
        return { unavailable };
      }
      const context = isLocal(name) ? contextOf(source) : contextFor(source);
      return "unavailable" in context ? context : { source, context };
    },
  };
}

/** A list of ids is read from the disk and has no line in the log; what it looks up has. */
const isLocal = (name: string): boolean => /^feed:/i.test(name) || isOwnList(name);

/**
 * The ways in which a log may tell of a search: question by question in its order, or by the last answer to each
 * question where it was begun again or a failed round was asked again.
 */
export const replaysOf = (
  lines: readonly QueryLine[],
  how: Parameters<typeof replayedSources>[1],
): readonly [inOrder: () => ReplayedSources, byLastAnswers: () => ReplayedSources] => [
  () => replayedSources(lines, how),
  () => replayedSources([...new Map(lines.map((line) => [keyOfLine(line), line])).values()], how),
];
