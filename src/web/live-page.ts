import { createHash } from "node:crypto";
import type { Markup } from "../engine/lib/markup.js";

/** One element of a page, which is replaced when it has changed. */
export interface Part {
  /** The id of its element. */
  readonly id: string;
  readonly text: string;
  readonly hash: string;
}

/** A page as it stands, its parts in their order. */
export interface Page {
  readonly title: string;
  readonly parts: readonly Part[];
}

/** A page that follows what it shows. */
export interface LivePage {
  /** The page as it stands now. */
  page(): Promise<Page>;
  /** Tells `listener` of the page now, and whenever it has changed, until the returned function is called. */
  follow(listener: (page: Page) => void): () => void;
  /** Ends following for everyone. */
  close(): Promise<void>;
}

/** What a page is made of and what tells that it may have changed. */
interface Source {
  make(): Promise<Page>;
  /** Watches until the returned function is called. `changed` may be called too often, and for nothing. */
  watch(changed: () => void): () => Promise<void>;
  /** What went wrong that nobody expected. */
  warn(error: unknown): void;
}

/** A fold writes several files; they are looked at together. */
const settleMs = 150;
/** So many times as long as a page took to be made, nothing is made again: ten thousand papers take seconds. */
const restTimes = 3;
/** Locks of killed processes, and files whose change no watcher told, are looked for so often. */
const lookAgainMs = 2000;
/** A browser that reloads comes back within this; its watcher stays. */
const graceMs = 3000;

/** A part of this text, which is one element with this id. */
export const textPart = (id: string, text: string): Part => ({
  id,
  text,
  hash: createHash("sha256").update(text).digest("base64url").slice(0, 16),
});

export const part = (id: string, markup: Markup): Part => textPart(id, markup.text);

/**
 * A page with one watcher, however many browsers follow it; without any it has none. It is made by one call at a time.
 */
export function livePage({ make, watch, warn }: Source): LivePage {
  const listeners = new Set<(page: Page) => void>();
  let queue: Promise<unknown> = Promise.resolve();
  let told = "";
  let tookMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let again: NodeJS.Timeout | undefined;
  let leaving: NodeJS.Timeout | undefined;
  let unwatch: (() => Promise<void>) | undefined;
  let isClosed = false;

  const page = (): Promise<Page> => {
    const made = queue.then(async () => {
      const began = performance.now();
      const now = await make();
      tookMs = performance.now() - began;
      return now;
    });
    queue = made.catch(() => undefined);
    return made;
  };

  const look = async (): Promise<void> => {
    try {
      const now = await page();
      const key = keyOf(now);
      if (key === told) return;
      told = key;
      for (const listener of listeners) listener(now);
    } catch (error) {
      warn(error);
    }
  };
  const lookSoon = (): void => {
    timer ??= setTimeout(
      () => {
        timer = undefined;
        void look();
      },
      Math.max(settleMs, tookMs * restTimes),
    );
  };

  const stop = async (): Promise<void> => {
    for (const each of [timer, leaving]) clearTimeout(each);
    clearInterval(again);
    [timer, leaving, again] = [undefined, undefined, undefined];
    const end = unwatch;
    unwatch = undefined;
    told = "";
    await end?.();
  };

  return {
    page,
    follow(listener) {
      if (isClosed) return () => {};
      clearTimeout(leaving);
      listeners.add(listener);
      unwatch ??= watch(lookSoon);
      again ??= setInterval(lookSoon, lookAgainMs);
      // A client that connects, or reconnects, gets what it may have missed.
      void page().then((now) => listeners.has(listener) && listener(now), warn);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && !isClosed) leaving = setTimeout(() => void stop().catch(warn), graceMs);
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
