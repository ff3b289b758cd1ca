import type { ResearchConfig } from "../generated/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import { whyNotAsked } from "./registry.js";
import type { ContextFor, Source } from "./shared/source.js";
import type { Http } from "../../net/http.js";
import type { Service } from "../../net/host-rules.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

/** What the configuration says of sources, by the name that a person wrote. */
export type SourcesConfig = NonNullable<ResearchConfig["sources"]>;
type Settings = SourcesConfig[string];

type Named = Pick<Source, "name" | "aliases">;

const bare = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** The settings of a source; "Semantic Scholar", semantic_scholar and its aliases all mean it. */
export function settingsOf({ name, aliases }: Named, config: SourcesConfig): Settings {
  const names = [name, ...aliases].map(bare);
  return Object.entries(config).find(([written]) => names.includes(bare(written)))?.[1] ?? {};
}

const addressOf = (source: Source, settings: Settings) =>
  (settings.endpoint ?? source.endpoint).replace(/(?<!\/)\/+$/, "");

/** A source as the limiter and the log know it. */
export function serviceOf(source: Source, config: SourcesConfig): Service {
  const settings = settingsOf(source, config);
  const { interval_ms: intervalMs = source.local === true ? 0 : undefined } = settings;
  return {
    name: source.name,
    own: source.local === true ? "" : source.endpoint,
    endpoint: addressOf(source, settings),
    ...withoutUndefined({ intervalMs }),
  };
}

/**
 * All services as the limiter and the log know them.
 * @throws ExpectedError where the configuration names one that is not among them: a mirror under a misspelt name would
 * never be asked.
 */
export function servicesOf(sources: readonly Source[], config: SourcesConfig): Service[] {
  const names = new Map(
    sources.flatMap(({ name, aliases }) => [name, ...aliases].map((each) => [bare(each), bare(name)])),
  );
  const unknown = Object.keys(config).find((written) => !names.has(bare(written)));
  if (unknown === undefined) return sources.map((source) => serviceOf(source, config));
  const known = [...new Set(names.values())];
  const near = names.get(nearestCandidate(bare(unknown), [...names.keys()]) ?? "");
  const advice = near === undefined ? `there are ${known.join(", ")}` : `the nearest one is '${near}'`;
  throw new ExpectedError(`Unknown source '${unknown}' in sources.${unknown}; ${advice}.`);
}

/**
 * With what each source is asked, or one sentence on why it can't be: turned off, or without the key, contact or
 * address that it needs.
 */
export function contextsWith(
  { sources, contact }: { readonly sources: SourcesConfig; readonly contact?: string },
  env: NodeJS.ProcessEnv,
  http: Http,
): ContextFor {
  const contextFor: ContextFor = (source) => {
    const settings = settingsOf(source, sources);
    const variable = settings.key_variable ?? source.keyVariable;
    // A line feed at the end, as `$(cat file)` leaves none but a secret store may, would be no valid header.
    const key = variable === undefined ? undefined : env[variable]?.trim() || undefined;
    const endpoint = addressOf(source, settings);
    if (settings.off === true)
      return { unavailable: `${source.name} is turned off in the configuration (sources.${bare(source.name)}.off).` };
    const context = { http, endpoint, contextFor, ...withoutUndefined({ key, contact }) };
    const unavailable = whyNotAsked(source, context);
    return unavailable === undefined ? context : { unavailable };
  };
  return contextFor;
}
