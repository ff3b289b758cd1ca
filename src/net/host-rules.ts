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

/** The account of a request and its rule. Two requests with the same account share one pace. */
export interface HostAccount extends HostRule {
  /** Also the name of a file. */
  readonly name: string;
}

interface RequestFacts {
  /** A short hash of the request's keys, if it has keys. */
  readonly keyHash: string | undefined;
  readonly hasContact: boolean;
  /** The services whose requests go to a mirror or a test server. */
  readonly replacedServices: readonly Service[];
  /** The limits from the terms of the services; the first that matches is used. */
  readonly budgets: readonly HostBudget[];
}

/**
 * The account of a request to `url`. A mirror or a test server has a separate account, with the rule of the service
 * that it replaces.
 */
export function hostAccountOf(url: URL, request: RequestFacts): HostAccount {
  const replaced = serviceAt(url.href, request.replacedServices);
  const path =
    replaced === undefined
      ? url.pathname
      : url.pathname.slice(new URL(replaced.endpoint).pathname.replace(/\/$/, "").length);
  const host =
    replaced === undefined || replaced.officialAddress === ""
      ? url.hostname
      : new URL(replaced.officialAddress).hostname;
  const budget = request.budgets.find(
    (candidate) => candidate.hosts.includes(host) && (candidate.path === undefined || path.startsWith(candidate.path)),
  );
  const hostName = url.host.replace(/[^a-z0-9.-]/gi, "_");
  const keySuffix =
    budget?.hasAccountPerKey === true && request.keyHash !== undefined ? `-keyed-${request.keyHash}` : "";
  if (replaced?.intervalMs !== undefined)
    return {
      name: `${hostName}${keySuffix}`,
      intervalMs: replaced.intervalMs,
      concurrency: replaced.intervalMs === 0 ? 4 : 1,
    };
  if (budget === undefined) return { name: hostName, ...defaultRule };
  const { intervalMs, concurrency } =
    (request.keyHash !== undefined ? budget.ruleWithKey : undefined) ??
    (request.hasContact ? budget.ruleWithContact : undefined) ??
    budget;
  return { name: `${budget.name}${replaced === undefined ? "" : `-${hostName}`}${keySuffix}`, intervalMs, concurrency };
}

/**
 * The service whose endpoint contains `address`; of several, the service with the longest endpoint. One server may
 * replace several services, each with a different path.
 */
export function serviceAt(address: string, services: readonly Service[]): Service | undefined {
  const isUnder = (base: string) =>
    base !== "" && address.startsWith(base) && /^(?:$|[/?#])/.test(address.slice(base.length));
  return services
    .filter(({ endpoint }) => isUnder(normaliseBase(endpoint)))
    .toSorted((a, b) => b.endpoint.length - a.endpoint.length)[0];
}

/** The normalised form of a base address: "HTTP://Host:80/a/" becomes "http://host/a". */
const normaliseBase = (base: string): string =>
  URL.canParse(base) ? new URL(base).href.replace(/(?<!\/)\/+$/, "") : "";
