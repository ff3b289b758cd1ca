import { httpCache } from "./http-cache.js";
import { keyOf, sourceOf } from "./request-log.js";
import { publicAddress } from "./credentials.js";
import type { Http } from "./http.js";
import type { Service } from "./host-rules.js";

interface KeptHttpOptions {
  readonly cacheDir: string;
  readonly services: readonly Service[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** An answer that is older would be asked for again, in milliseconds. */
  readonly freshMs?: number;
  /** Told who would be asked, by the source's name or its host, each time an answer is not kept. */
  readonly missing: (source: string) => void;
}

/** Answers as polite access to the network would as long as it has to ask nobody, and makes no connection. */
export function keptHttp({ cacheDir, services, now, freshMs = 24 * 3600_000, missing }: KeptHttpOptions): Http {
  const cache = httpCache(cacheDir);
  return {
    async get(request) {
      const kept = await cache.find(keyOf(request));
      if (kept !== undefined && now() - kept.answer.checkedAt < freshMs)
        return { status: "ok", bytes: kept.bytes, url: kept.answer.url, type: kept.answer.type };
      const source = sourceOf(publicAddress(request.url), services);
      missing(source);
      return { status: "error", reason: `${source} has not been asked yet.` };
    },
  };
}
