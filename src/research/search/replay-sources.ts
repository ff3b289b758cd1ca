import type { QueryLine } from "../../engine/generated/query.js";
import type { Open } from "./result-list.js";
import { keyOfLine } from "../../net/request-log.js";
import { isOwnList } from "../papers/records/own-list.js";
import { sourceNamed } from "../sources/registry.js";
import { replayHttp } from "../../net/replay-http.js";
import type { ContextFor, Source, SourceContext } from "../sources/shared/source.js";
import { serviceOf, type SourcesConfig } from "../sources/source-settings.js";

/** Sources that answer from a log. */
export interface ReplayedSources {
  readonly open: Open;
  /** One sentence for each question that the log does not answer. */
  readonly unanswered: () => readonly string[];
}

/** Keys and addresses do not affect a replay, but some clients send no request without them. */
const dummyCredentials = { key: "replayed", contact: "replayed@localhost" };

/**
 * Opens the sources for a replay. Addresses come from the configuration, keys are not needed, and no request goes to
 * the network.
 */
function openReplay(
  lines: readonly QueryLine[],
  { cacheDir, config, root }: { readonly cacheDir: string; readonly config: SourcesConfig; readonly root: string },
): ReplayedSources {
  const http = replayHttp(lines, cacheDir);
  const loggedSources = new Set(lines.map(({ source }) => source));
  const contextOf = (source: Source): SourceContext => ({
    http,
    endpoint: serviceOf(source, config).endpoint,
    contextFor,
    ...dummyCredentials,
  });
  // A source without a key, or one that was turned off, has no entries in the log, and gives no results now either.
  const contextFor: ContextFor = (source) =>
    loggedSources.has(source.name) ? contextOf(source) : { unavailable: `${source.name} was not asked.` };
  /** Sentences about sources that are in the log but no longer exist, such as those of a plugin. */
  const removedSources = new Set<string>();
  return {
    unanswered: () => [...removedSources, ...http.missingAnswers()],
    open(name) {
      const source = sourceNamed(name, root);
      if (source === undefined) {
        const unavailable = `There is no source '${name}' any more.`;
        if (loggedSources.has(name)) removedSources.add(unavailable);
        return { unavailable };
      }
      const context = isLocal(name) ? contextOf(source) : contextFor(source);
      return "unavailable" in context ? context : { source, context };
    },
  };
}

/** Feeds and lists have no entries in the log: lists are read from the disk, and only their lookups are logged. */
const isLocal = (name: string): boolean => /^feed:/i.test(name) || isOwnList(name);

/**
 * The two ways to replay a log: all answers in their order, or only the last answer to each question. The second is for
 * a search that was restarted, or whose failed rounds were repeated.
 */
export const replaysOf = (
  lines: readonly QueryLine[],
  options: Parameters<typeof openReplay>[1],
): readonly [inOrder: () => ReplayedSources, byLastAnswers: () => ReplayedSources] => [
  () => openReplay(lines, options),
  () => openReplay([...new Map(lines.map((line) => [keyOfLine(line), line])).values()], options),
];
