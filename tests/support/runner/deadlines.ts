/**
 * When a test is given up: only one that hangs takes so long, however busy the machine is. A poll ends before its test,
 * so that what it last saw is told. Milliseconds.
 */
export const deadlines = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 200_000 } } };
