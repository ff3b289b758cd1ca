import { createHash } from "node:crypto";
import type { Markup } from "../engine/lib/markup.js";

/** An element of a page that is replaced if it has changed. */
export interface Part {
  /** The id of the HTML element. */
  readonly id: string;
  readonly text: string;
  readonly hash: string;
}

/** A page with its parts in order. */
export interface Page {
  readonly title: string;
  readonly parts: readonly Part[];
}

/** A page that is updated. */
export interface LivePage {
  /** Makes the current page. */
  page(): Promise<Page>;
  /** Calls `listener` with the current page and after each change, until the returned function is called. */
  follow(listener: (page: Page) => void): () => void;
  /** Stops all following. */
  close(): Promise<void>;
}

/** Makes a page and notices possible changes. */
interface PageSource {
  make(): Promise<Page>;
  /** Watches until the returned function is called. `changed` may also be called without a change. */
  watch(changed: () => void): () => Promise<void>;
  /** Reports an unexpected error. */
  warn(error: unknown): void;
}

/** Delay after a change: one change of a project writes several files. */
const settleMs = 150;
/**
 * Minimum pause before the page is made again, as a multiple of the time for the last page: large pages take seconds.
 */
const minPauseFactor = 3;
/** Interval of checks for changes that no watcher reports, such as locks of killed processes. */
const checkIntervalMs = 2000;
/** How long a watcher is kept after the last browser has left, in milliseconds: reloading a page takes less time. */
const graceMs = 3000;

/** Makes a part from a text, which must be one HTML element with this id. */
export const textPart = (id: string, text: string): Part => ({
  id,
  text,
  hash: createHash("sha256").update(text).digest("base64url").slice(0, 16),
});

export const part = (id: string, markup: Markup): Part => textPart(id, markup.text);

/**
 * Creates a live page. All its browsers share one watcher; without browsers no watcher runs. The page is never made by
 * two calls at the same time.
 */
export function createLivePage({ make, watch, warn }: PageSource): LivePage {
  const listeners = new Set<(page: Page) => void>();
  let queue: Promise<unknown> = Promise.resolve();
  let lastKey = "";
  let durationMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let checkTimer: NodeJS.Timeout | undefined;
  let stopTimer: NodeJS.Timeout | undefined;
  let unwatch: (() => Promise<void>) | undefined;
  let isClosed = false;

  const page = (): Promise<Page> => {
    const newPage = queue.then(async () => {
      const startedAt = performance.now();
      const currentPage = await make();
      durationMs = performance.now() - startedAt;
      return currentPage;
    });
    queue = newPage.catch(() => undefined);
    return newPage;
  };

  const checkForChanges = async (): Promise<void> => {
    try {
      const currentPage = await page();
      const key = keyOf(currentPage);
      if (key === lastKey) return;
      lastKey = key;
      for (const listener of listeners) listener(currentPage);
    } catch (error) {
      warn(error);
    }
  };
  const scheduleCheck = (): void => {
    timer ??= setTimeout(
      () => {
        timer = undefined;
        void checkForChanges();
      },
      Math.max(settleMs, durationMs * minPauseFactor),
    );
  };

  const stop = async (): Promise<void> => {
    for (const timeout of [timer, stopTimer]) clearTimeout(timeout);
    clearInterval(checkTimer);
    [timer, stopTimer, checkTimer] = [undefined, undefined, undefined];
    const stopWatching = unwatch;
    unwatch = undefined;
    lastKey = "";
    await stopWatching?.();
  };

  return {
    page,
    follow(listener) {
      if (isClosed) return () => {};
      clearTimeout(stopTimer);
      listeners.add(listener);
      unwatch ??= watch(scheduleCheck);
      checkTimer ??= setInterval(scheduleCheck, checkIntervalMs);
      // A client that connects or reconnects gets the current page.
      void page().then((currentPage) => listeners.has(listener) && listener(currentPage), warn);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && !isClosed) stopTimer = setTimeout(() => void stop().catch(warn), graceMs);
      };
    },
    close: () => {
      isClosed = true;
      listeners.clear();
      return stop();
    },
  };
}

const keyOf = ({ title, parts }: Page): string => [title, ...parts.map(({ id, hash }) => `${id} ${hash}`)].join("\n");
