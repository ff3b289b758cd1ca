import type { Http } from "../../net/http.js";
import { politeHttp, type PoliteHttpOptions } from "../../net/polite-http.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { hostBudgets } from "./host-budgets.js";
import { allServices } from "./registry.js";
import { servicesOf, type SourcesConfig } from "./source-settings.js";

/** What the configuration says of the network. */
interface Configured {
  readonly sources: SourcesConfig;
  readonly stateDir: string;
  /** Who asks, as services want to know. */
  readonly contact?: string;
}

/** Polite access to the network, with what the configuration says of sources and who asks. */
export function httpFor(
  { sources, stateDir, contact }: Configured,
  signal: AbortSignal,
  how: Pick<PoliteHttpOptions, "cacheDir" | "freshMs" | "record" | "typed"> = {},
): Http {
  const services = servicesOf(allServices(), sources);
  return politeHttp({ signal, stateDir, services, budgets: hostBudgets, ...withoutUndefined({ contact }), ...how });
}
