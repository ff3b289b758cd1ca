import type { ResearchConfig } from "../generated/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import { whyUnavailable } from "./registry.js";
import type { ContextFor, Source } from "./shared/source.js";
import type { Http } from "../../net/http.js";
import type { Service } from "../../net/host-rules.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

/** Settings of sources by name, as the user wrote the name. */
export type SourcesConfig = NonNullable<ResearchConfig["sources"]>;
type Settings = SourcesConfig[string];

type SourceNames = Pick<Source, "name" | "aliases">;

const simplifiedName = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** The settings of a source. "Semantic Scholar", semantic_scholar and the aliases all mean the same source. */
export function settingsOf({ name, aliases }: SourceNames, config: SourcesConfig): Settings {
  const names = [name, ...aliases].map(simplifiedName);
  return Object.entries(config).find(([key]) => names.includes(simplifiedName(key)))?.[1] ?? {};
}

const addressOf = (source: Source, settings: Settings) =>
  (settings.endpoint ?? source.endpoint).replace(/(?<!\/)\/+$/, "");

/** A source in the form that the rate limiter and the request log use. */
export function serviceOf(source: Source, config: SourcesConfig): Service {
  const settings = settingsOf(source, config);
  const { interval_ms: intervalMs = source.local === true ? 0 : undefined } = settings;
  return {
    name: source.name,
    officialAddress: source.local === true ? "" : source.endpoint,
    endpoint: addressOf(source, settings),
    ...withoutUndefined({ intervalMs }),
  };
}

/**
 * All services in the form that the rate limiter and the request log use.
 * @throws ExpectedError if the configuration names an unknown service: requests would not go to a mirror under a
 * misspelt name.
 */
export function servicesOf(sources: readonly Source[], config: SourcesConfig): Service[] {
  const names = new Map(
    sources.flatMap(({ name, aliases }) =>
      [name, ...aliases].map((alias) => [simplifiedName(alias), simplifiedName(name)]),
    ),
  );
  const unknownName = Object.keys(config).find((key) => !names.has(simplifiedName(key)));
  if (unknownName === undefined) return sources.map((source) => serviceOf(source, config));
  const knownNames = [...new Set(names.values())];
  const nearestName = names.get(nearestCandidate(simplifiedName(unknownName), [...names.keys()]) ?? "");
  const advice =
    nearestName === undefined ? `there are ${knownNames.join(", ")}` : `the nearest one is '${nearestName}'`;
  throw new ExpectedError(`Unknown source '${unknownName}' in sources.${unknownName}; ${advice}.`);
}

/**
 * Returns the function that makes the context of a source. It answers with one sentence if the source can't be queried:
 * it is turned off, or its key, contact or address is missing.
 */
export function contextsWith(
  { sources, contact }: { readonly sources: SourcesConfig; readonly contact?: string },
  env: NodeJS.ProcessEnv,
  http: Http,
): ContextFor {
  const contextFor: ContextFor = (source) => {
    const settings = settingsOf(source, sources);
    const variable = settings.key_variable ?? source.keyVariable;
    // A secret store may add a line feed, which would make the HTTP header invalid.
    const key = variable === undefined ? undefined : env[variable]?.trim() || undefined;
    const endpoint = addressOf(source, settings);
    if (settings.off === true)
      return {
        unavailable: `${source.name} is turned off in the configuration (sources.${simplifiedName(source.name)}.off).`,
      };
    const context = { http, endpoint, contextFor, ...withoutUndefined({ key, contact }) };
    const unavailable = whyUnavailable(source, context);
    return unavailable === undefined ? context : { unavailable };
  };
  return contextFor;
}
