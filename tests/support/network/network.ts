import { hostBudgets } from "../../../src/research/sources/host-budgets.js";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Fetch, Http } from "../../../src/net/http.js";
import { politeHttp, type PoliteHttpOptions } from "../../../src/net/polite-http.js";
import { type Page, serve, type WebServer } from "../../fixtures/web-server.js";
import type { FetchOptions } from "../../../src/research/full-text/choose-full-text.js";
import type { ContextFor } from "../../../src/research/sources/shared/source.js";
import type { Clock } from "../../../src/engine/lib/clock.js";

/** A new folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "ralph-http-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A web server that is closed after the test. */
export async function web(pages: Record<string, Page | readonly Page[]>): Promise<WebServer> {
  const server = await serve(pages);
  onTestFinished(() => server.close());
  return server;
}

/** Time that passes only while somebody sleeps. */
export function fakeClock(start = Date.UTC(2026, 10, 22)): Clock & { set(time: number): void } {
  let time = start;
  return {
    now: () => time,
    sleep: async (until) => void (time = Math.max(time, until)),
    set: (to) => void (time = to),
  };
}

/** What a pretended host answers, and what it was asked. */
export interface Pretended {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}
export interface Asked {
  readonly url: string;
  readonly at: number;
  readonly headers: Record<string, string>;
}

/** Hosts that tests can't reach: every request is noted with the clock's time and answered by `answer`. */
export function pretending(
  clock: Clock,
  answer: (url: string) => Pretended = () => ({}),
): { fetch: Fetch; asked: Asked[] } {
  const asked: Asked[] = [];
  const fetch: Fetch = async (url, { headers }) => {
    asked.push({ url, at: clock.now(), headers });
    const { status = 200, headers: said = {}, body = "{}" } = answer(url);
    const stream = new Blob([body]).stream() as unknown as AsyncIterable<Uint8Array>;
    return { status, headers: new Headers({ "content-type": "application/json", ...said }), body: stream };
  };
  return { fetch, asked };
}

/** Polite access that waits no longer than a test should. */
export const httpWith = (options: Partial<PoliteHttpOptions> & Pick<PoliteHttpOptions, "stateDir">): Http =>
  politeHttp({ signal: new AbortController().signal, budgets: hostBudgets, random: () => 0, ...options });

/** A test server as the service of this name, asked without pauses. */
export const standsFor = (name: string, officialAddress: string, endpoint: string, intervalMs = 0) => ({
  name,
  officialAddress,
  endpoint,
  intervalMs,
});

/** Where texts are read from: a test server, asked without pauses as the person named it, and no service for copies. */
export function readingFrom(
  origin: string,
  sites: Readonly<Record<string, string>> = {},
): Pick<FetchOptions, "http" | "contextFor" | "signal" | "copies"> {
  const http = httpWith({
    stateDir: temporaryFolder(),
    typedAddresses: [origin, ...Object.values(sites)],
    clock: fakeClock(),
    contact: "mail@example.org",
  });
  const contextFor: ContextFor = ({ name, endpoint }) => ({ http, endpoint: sites[name] ?? endpoint, contextFor });
  return { http, contextFor, signal: new AbortController().signal, copies: [] };
}
