/** A service and the address that requests to it use. */
export interface Service {
  /** The name in a project's `sources`: "arXiv". */
  readonly name: string;
  /** The service's own base address. */
  readonly own: string;
  /** Base address for requests: the service's own, or that of a mirror or a test server. */
  readonly endpoint: string;
  /**
   * Minimum milliseconds between two requests to an endpoint that is not the service's own; by default the rule of the
   * service applies.
   */
  readonly intervalMs?: number;
}

/** The rate limit of a host. */
export interface HostRule {
  /** Minimum milliseconds between the starts of two requests. */
  readonly intervalMs: number;
  /** Maximum number of requests at the same time. */
  readonly concurrency: number;
}

/** A rate limit that all hosts of a service, or a part of one host, share. */
export interface HostBudget extends HostRule {
  readonly name: string;
  readonly hosts: readonly string[];
  /** Only for paths that begin with this text. */
  readonly path?: string;
  /** Each key has a separate account: the limit for requests without a key does not apply to it. */
  readonly byKey?: true;
  /** The rule for requests with a key. */
  readonly keyed?: HostRule;
  /** The rule for requests with a contact address. */
  readonly polite?: HostRule;
}

export const perSecond = (requests: number, concurrency: number): HostRule => ({
  intervalMs: 1000 / requests,
  concurrency,
});

/** The rule for all other hosts. */
const defaultRule = perSecond(1, 2);

/** An address that replaces that of a service: of a mirror or a test server. */
export interface StandIn {
  /** Base address. */
  readonly url: string;
  /** Base address of the service itself; empty if it has none and each user runs their own. */
  readonly replacedAddress: string;
  /**
   * Minimum milliseconds between two requests, if the owner of the address has set it; by default the rule of the
   * service applies.
   */
  readonly intervalMs?: number;
}

/** The account of a request and its rule. Two requests with the same account share one pace. */
export interface HostAccount extends HostRule {
  /** Also the name of a file. */
  readonly name: string;
}

interface RequestFacts {
  /** A short hash of the request's keys, if it has keys. */
  readonly keyHash: string | undefined;
  readonly contact: boolean;
  readonly standIns: readonly StandIn[];
  /** The limits from the terms of the services; the first that matches is used. */
  readonly budgets: readonly HostBudget[];
}

/**
 * The account of a request to `url`. A stand-in has a separate account, with the rule of the service that it replaces.
 */
export function hostAccountOf(url: URL, facts: RequestFacts): HostAccount {
  const standIn = longestMatch(url.href, facts.standIns, (candidate) => candidate.url);
  const path =
    standIn === undefined ? url.pathname : url.pathname.slice(new URL(standIn.url).pathname.replace(/\/$/, "").length);
  const host =
    standIn === undefined || standIn.replacedAddress === "" ? url.hostname : new URL(standIn.replacedAddress).hostname;
  const budget = facts.budgets.find(
    (candidate) => candidate.hosts.includes(host) && (candidate.path === undefined || path.startsWith(candidate.path)),
  );
  const hostName = url.host.replace(/[^a-z0-9.-]/gi, "_");
  const keySuffix = budget?.byKey === true && facts.keyHash !== undefined ? `-keyed-${facts.keyHash}` : "";
  if (standIn?.intervalMs !== undefined)
    return {
      name: `${hostName}${keySuffix}`,
      intervalMs: standIn.intervalMs,
      concurrency: standIn.intervalMs === 0 ? 4 : 1,
    };
  if (budget === undefined) return { name: hostName, ...defaultRule };
  const { intervalMs, concurrency } =
    (facts.keyHash !== undefined ? budget.keyed : undefined) ?? (facts.contact ? budget.polite : undefined) ?? budget;
  return { name: `${budget.name}${standIn === undefined ? "" : `-${hostName}`}${keySuffix}`, intervalMs, concurrency };
}

/**
 * The place with the longest base address under which `address` lies. One server may replace several services, each
 * with a different path.
 */
export function longestMatch<Place>(
  address: string,
  places: readonly Place[],
  baseOf: (place: Place) => string,
): Place | undefined {
  const isUnder = (base: string) =>
    base !== "" && address.startsWith(base) && /^(?:$|[/?#])/.test(address.slice(base.length));
  return places
    .filter((place) => isUnder(bareBase(baseOf(place))))
    .toSorted((a, b) => baseOf(b).length - baseOf(a).length)[0];
}

/** The normalised form of a base address: "HTTP://Host:80/a/" becomes "http://host/a". */
const bareBase = (base: string): string => (URL.canParse(base) ? new URL(base).href.replace(/(?<!\/)\/+$/, "") : "");
