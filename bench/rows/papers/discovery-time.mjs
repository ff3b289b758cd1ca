import { load } from "../../../scripts/bundle.mjs";
import { inFolder } from "../../measure.mjs";
import { serveScholars, services } from "../../scholars.mjs";

const wanted = 30;
const keywords = [
  "tactile sensing",
  "slip detection",
  "soft grippers",
  "in-hand manipulation",
  "grasp stability",
  "sim-to-real transfer",
];

export const row = {
  name: "discovery-time",
  what: `finding ${wanted} papers by ${keywords.length} keywords at four services (copies on 127.0.0.1) under their real limits, on a clock of its own; compared with the mandatory waits of the slowest service; the original took 744 s`,
  hold: "≤ 1.1 × the mandatory waits",
  command: "runSearch(rrd, sources)",
  async run() {
    // Built together, so that they share their state.
    const loaded = await load({
      session: "src/research/units/screening/search-session.ts",
      http: "src/net/polite-http.ts",
      registry: "src/research/sources/registry.ts",
      hosts: "src/research/sources/host-budgets.ts",
    });
    const { runSearch } = loaded.session;
    const { politeHttp } = loaded.http;
    const { sourceNamed } = loaded.registry;
    return await inFolder(async (folder) => {
      const scholars = await serveScholars();
      const clock = eventClock(Date.parse("2026-11-22T00:00:00Z"));
      const { signal } = new AbortController();
      try {
        const endpoints = services.map(({ name, path }) => ({
          name,
          own: sourceNamed(name).endpoint,
          endpoint: `${scholars.origin}/${path}`,
        }));
        const http = politeHttp({
          signal,
          stateDir: folder,
          services: endpoints,
          budgets: loaded.hosts.hostBudgets,
          clock,
          fetch: clock.fetch,
        });
        const open = (name) => ({
          source: sourceNamed(name),
          context: { http, endpoint: endpoints.find((each) => each.name === name).endpoint },
        });
        const rrd = {
          description: "Touch in robot hands",
          requirements: {
            keywords,
            focus_area: "robotics",
            target_papers: wanted,
            time_window_days: 365,
            sources: services.map(({ name }) => name),
          },
          papers_pool: [],
        };
        const started = clock.now();
        const names = services.map(({ name }) => name);
        const alone = {
          replay: async () => [],
          isFirstSearch: () => true,
          onReport: () => undefined,
          onProgress: () => undefined,
        };
        const found = await runSearch(rrd, names, { ...alone, folder, open, now: clock.now, signal });
        const took = (clock.now() - started) / 1000;
        const failed = found.listings.find(({ status }) => status !== "ok");
        if (failed !== undefined) throw new Error(`${failed.source}: ${failed.reason}`);
        if (found.works.length < wanted) throw new Error(`${found.works.length} works were found, not ${wanted}`);
        const waits = Math.max(
          ...services.map(({ path, intervalMs }) => ((scholars.asked[path] - 1) * intervalMs) / 1000),
        );
        const questions = Object.values(scholars.asked).reduce((sum, count) => sum + count, 0);
        return {
          rival: `the waits alone: ${waits.toFixed(1)} s`,
          ours: `${took.toFixed(1)} s (${(took / waits).toFixed(2)} ×), ${found.works.length} works of ${questions} questions`,
        };
      } finally {
        clock.end();
        await scholars.close();
      }
    });
  },
};

/**
 * A clock that goes on to the next moment somebody sleeps for once nothing else is under way; requests take no time.
 */
function eventClock(start) {
  let now = start;
  let underWay = 0;
  let quiet = 0;
  const sleepers = [];
  const busy = (promise) => {
    underWay += 1;
    return promise.finally(() => {
      underWay -= 1;
      quiet = 0;
    });
  };
  // The limiter reads and writes small files between a question and the next; three looks without a change mean that it
  // is through.
  const timer = setInterval(() => {
    quiet = underWay === 0 ? quiet + 1 : 0;
    if (quiet < 3 || sleepers.length === 0) return;
    quiet = 0;
    sleepers.sort((a, b) => a.until - b.until);
    const next = sleepers.shift();
    now = Math.max(now, next.until);
    next.wake();
  }, 15);
  return {
    now: () => now,
    sleep: (until) => {
      quiet = 0;
      return until <= now ? Promise.resolve() : new Promise((wake) => sleepers.push({ until, wake }));
    },
    fetch: (url, init) => busy(fetch(url, init)),
    end: () => clearInterval(timer),
  };
}
