import type { Clock } from "../loop/types.js";

/** The machine's own time. Sleeps in slices, so a laptop that was suspended wakes up on time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(until, signal) {
    while (!signal.aborted && Date.now() < until) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", wake);
          resolve();
        };
        const timer = setTimeout(wake, Math.min(until - Date.now(), 10_000));
        signal.addEventListener("abort", wake);
      });
    }
  },
};
