/** A service as it is asked here. */
export interface Service {
  /** As a project's `sources` name it: "arXiv". */
  readonly name: string;
  /** The service's own base address. */
  readonly own: string;
  /** Base address that is asked: its own, a mirror's or a test server's. */
  readonly endpoint: string;
  /**
   * Least milliseconds between two requests to an endpoint that is not the service's own; by default the service's own
   * rule holds.
   */
  readonly intervalMs?: number;
}

/** How often a host may be asked. */
export interface HostRule {
  /** Least milliseconds between the starts of two requests. */
  readonly intervalMs: number;
  /** Maximum number of requests under way at a time. */
  readonly concurrency: number;
}

/** One account that requests are booked to: all hosts of a service, or a part of one. */
export interface HostBudget extends HostRule {
  readonly name: string;
  readonly hosts: readonly string[];
  /** Only paths that begin with this. */
  readonly path?: string;
  /** Each key has an account of its own: what the service says to those without one does not hold for it. */
  readonly byKey?: true;
  /** Where the request carries a key. */
  readonly keyed?: HostRule;
  /** Where a contact address is known. */
  readonly polite?: HostRule;
}

export const perSecond = (requests: number, concurrency: number): HostRule => ({
  intervalMs: 1000 / requests,
  concurrency,
});

/** Any host that nothing is known of. */
const defaultRule = perSecond(1, 2);

/** An address that stands in for a service's own: a mirror's or a test server's. */
export interface StandIn {
  /** Base address. */
  readonly url: string;
  /** Base address of the service itself; empty if it has none and each user runs their own. */
  readonly replacedAddress: string;
  /**
   * Least milliseconds between two requests, where the owner of the address has said so; else the service's own rule
   * holds.
   */
  readonly intervalMs?: number;
}

/** The account of a request and its rule. Two requests with the same account share one pace. */
export interface HostAccount extends HostRule {
  /** Also the name of a file. */
  readonly name: string;
}

interface RequestFacts {
  /** A short hash of the request's keys, where it carries any. */
  readonly keyHash: string | undefined;
  readonly contact: boolean;
  readonly standIns: readonly StandIn[];
  /** What services ask for in their terms; the first that fits counts. */
  readonly budgets: readonly HostBudget[];
}

/**
 * Which account a request to `url` is booked to. A stand-in has an account of its own, with the rule of what it stands
 * for.
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
 * Of the bases that an address lies under, the longest: one server may stand in for several services, each with a path
 * of its own.
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

/** In the spelling that addresses have once they are parsed: "HTTP://Host:80/a/" is "http://host/a". */
const bareBase = (base: string): string => (URL.canParse(base) ? new URL(base).href.replace(/(?<!\/)\/+$/, "") : "");
