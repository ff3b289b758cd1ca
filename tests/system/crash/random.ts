/** Repeatable randomness: the same seed gives the same numbers (mulberry32). */
export interface Random {
  /** From 0 up to 1. */
  next(): number;
  /** Another source of numbers, so that what one part draws does not move what another gets. */
  fork(): Random;
}

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { next, fork: () => randomFrom(Math.floor(next() * 2 ** 32)) };
}
