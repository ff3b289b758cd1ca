import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { markup } from "../../src/engine/lib/markup.js";
import { createLivePage, type Page, part } from "../../src/web/live-page.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A page of one word, and what became of its watcher. */
function followed() {
  const state = { word: "one", made: 0, watching: 0, opened: 0, fails: false };
  let changed = () => {};
  const warned: unknown[] = [];
  const live = createLivePage({
    async make(): Promise<Page> {
      state.made += 1;
      if (state.fails) throw new Error("no");
      return { title: "x", parts: [part("word", markup`<p id="word">${state.word}</p>`)] };
    },
    watch(tell) {
      changed = tell;
      state.watching += 1;
      state.opened += 1;
      return async () => void (state.watching -= 1);
    },
    warn: (error) => void warned.push(error),
  });
  const told: string[] = [];
  const follow = () => live.follow(({ parts }) => void told.push(parts[0]?.text ?? ""));
  return { state, live, told, follow, warned, change: () => changed() };
}

test("a folder has one watcher, however many browsers follow it, and none once they have left", async () => {
  const { state, follow, live } = followed();
  const [first, second] = [follow(), follow()];
  expect(state).toMatchObject({ watching: 1, opened: 1 });
  first();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(state.watching).toBe(1);
  second();
  // A browser that reloads comes back to the same one.
  await vi.advanceTimersByTimeAsync(1000);
  const third = follow();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(state).toMatchObject({ watching: 1, opened: 1 });
  third();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(state.watching).toBe(0);
  const made = state.made;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(state.made).toBe(made);
  await live.close();
});

test("whoever comes is told how it stands; then only of what has changed, also where no watcher tells", async () => {
  const { state, told, follow, change, live } = followed();
  follow();
  await vi.advanceTimersByTimeAsync(0);
  expect(told).toEqual(['<p id="word">one</p>']);
  for (let times = 0; times < 50; times += 1) change();
  await vi.advanceTimersByTimeAsync(1000);
  expect(told.length).toBeLessThanOrEqual(2);
  state.word = "two";
  await vi.advanceTimersByTimeAsync(5000);
  expect(told.at(-1)).toBe('<p id="word">two</p>');
  const count = told.length;
  change();
  await vi.advanceTimersByTimeAsync(5000);
  expect(told).toHaveLength(count);
  await live.close();
});

test("once it is closed nothing is left that would keep the process", async () => {
  const { state, live, follow, change } = followed();
  const leave = follow();
  await vi.advanceTimersByTimeAsync(100);
  change();
  await live.close();
  leave();
  follow()();
  expect(vi.getTimerCount()).toBe(0);
  expect(state.watching).toBe(0);
});

test("a page that can't be made is a warning, and is tried again", async () => {
  const { state, told, follow, warned, live } = followed();
  state.fails = true;
  follow();
  await vi.advanceTimersByTimeAsync(3000);
  expect(warned.length).toBeGreaterThan(0);
  state.fails = false;
  await vi.advanceTimersByTimeAsync(3000);
  expect(told).toContain('<p id="word">one</p>');
  await live.close();
});
