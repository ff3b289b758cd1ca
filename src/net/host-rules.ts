/** A service and the address that requests to it use. */
export interface Service {
  /** The name in a project's `sources`: "arXiv". */
  readonly name: string;
  /** The base address that the provider of the service publishes; empty if each user runs a separate server. */
  readonly officialAddress: string;
  /** The base address for requests: `officialAddress`, or the address of a mirror or a test server. */
  readonly endpoint: string;
  /**
   * Minimum milliseconds between two requests, if `endpoint` is a mirror or a test server; by default the rule of the
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
  readonly hasAccountPerKey?: true;
  /** The rule for requests with a key. */
  readonly ruleWithKey?: HostRule;
  /** The rule for requests with a contact address. */
  readonly ruleWithContact?: HostRule;
}

export const perSecond = (requests: number, concurrency: number): HostRule => ({
  intervalMs: 1000 / requests,
  concurrency,
});

/** The rule for all other hosts. */
const defaultRule = perSecond(1, 2);

/** The address of a mirror or a test server that is used instead of a service. */
export interface ReplacementAddress {
  /** Base address. */
  readonly url: string;
  /** Base address of the service; empty if each user runs a separate server. */
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
  readonly hasContact: boolean;
  readonly replacementAddresses: readonly ReplacementAddress[];
  /** The limits from the terms of the services; the first that matches is used. */
  readonly budgets: readonly HostBudget[];
}

/**
 * The account of a request to `url`. A mirror or a test server has a separate account, with the rule of the service
 * that it replaces.
 */
export function hostAccountOf(url: URL, request: RequestFacts): HostAccount {
  const replacement = findLongestMatch(url.href, request.replacementAddresses, (candidate) => candidate.url);
  const path =
    replacement === undefined
      ? url.pathname
      : url.pathname.slice(new URL(replacement.url).pathname.replace(/\/$/, "").length);
  const host =
    replacement === undefined || replacement.replacedAddress === ""
      ? url.hostname
      : new URL(replacement.replacedAddress).hostname;
  const budget = request.budgets.find(
    (candidate) => candidate.hosts.includes(host) && (candidate.path === undefined || path.startsWith(candidate.path)),
  );
  const hostName = url.host.replace(/[^a-z0-9.-]/gi, "_");
  const keySuffix =
    budget?.hasAccountPerKey === true && request.keyHash !== undefined ? `-keyed-${request.keyHash}` : "";
  if (replacement?.intervalMs !== undefined)
    return {
      name: `${hostName}${keySuffix}`,
      intervalMs: replacement.intervalMs,
      concurrency: replacement.intervalMs === 0 ? 4 : 1,
    };
  if (budget === undefined) return { name: hostName, ...defaultRule };
  const { intervalMs, concurrency } =
    (request.keyHash !== undefined ? budget.ruleWithKey : undefined) ??
    (request.hasContact ? budget.ruleWithContact : undefined) ??
    budget;
  return {
    name: `${budget.name}${replacement === undefined ? "" : `-${hostName}`}${keySuffix}`,
    intervalMs,
    concurrency,
  };
}

/**
 * The item of `items` whose base address contains `address`; of several, the item with the longest base address. One
 * server may replace several services, each with a different path.
 */
export function findLongestMatch<Place>(
  address: string,
  items: readonly Place[],
  baseOf: (item: Place) => string,
): Place | undefined {
  const isUnder = (base: string) =>
    base !== "" && address.startsWith(base) && /^(?:$|[/?#])/.test(address.slice(base.length));
  return items
    .filter((item) => isUnder(normaliseBase(baseOf(item))))
    .toSorted((a, b) => baseOf(b).length - baseOf(a).length)[0];
}

/** The normalised form of a base address: "HTTP://Host:80/a/" becomes "http://host/a". */
const normaliseBase = (base: string): string =>
  URL.canParse(base) ? new URL(base).href.replace(/(?<!\/)\/+$/, "") : "";
