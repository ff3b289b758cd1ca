import { appendFileSync } from "node:fs";
import { afterAll, expect } from "vitest";
import { cpuFile, cpuSeconds } from "./cpu.js";

// At the end of each test file: what its process, and every child that it waited for, has used since the last file.
afterAll(() => {
  const file = cpuFile();
  if (file === undefined) return;
  const { own, children } = cpuSeconds();
  const all = own + children;
  const counted = (globalThis as { countedCpu?: number }).countedCpu ?? 0;
  (globalThis as { countedCpu?: number }).countedCpu = all;
  appendFileSync(file, `${JSON.stringify({ file: expect.getState().testPath, seconds: all - counted })}\n`);
});
