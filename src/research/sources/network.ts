import type { Http } from "../../net/http.js";
import { politeHttp, type PoliteHttpOptions } from "../../net/polite-http.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { hostBudgets } from "./host-budgets.js";
import { allServices } from "./registry.js";
import { servicesOf, type SourcesConfig } from "./source-settings.js";

/** The settings that network access needs. */
interface NetworkSettings {
  readonly sources: SourcesConfig;
  readonly stateDir: string;
  /** A mail address or page of the user, which services want to know. */
  readonly contact?: string;
}

/** Network access that follows the settings of the sources and tells services the contact. */
export function httpFor(
  { sources, stateDir, contact }: NetworkSettings,
  signal: AbortSignal,
  options: Pick<PoliteHttpOptions, "cacheDir" | "freshMs" | "record" | "typedAddresses"> = {},
): Http {
  const services = servicesOf(allServices(), sources);
  return politeHttp({ signal, stateDir, services, budgets: hostBudgets, ...withoutUndefined({ contact }), ...options });
}
