import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, run, size } from "../../measure.mjs";

const kills = Number(process.env.BENCH_KILLS ?? size(100, 1));

export const row = {
  name: "crash",
  what: `${kills} SIGKILLs of the whole group at random instants: entries corrupt, lost or doubled`,
  hold: "0",
  command: `BENCH_KILLS=${kills} npm run bench -- crash`,
  /** The kills of runs of `npm run test:crash`, for the numbers. */
  async run() {
    const folder = mkdtempSync(join(tmpdir(), "bench-"));
    const report = join(folder, "report.json");
    try {
      const env = { ...process.env, RR_KILLS: String(kills), RR_REPORT: report };
      await run(
        process.execPath,
        [
          ...[join(root, "node_modules/vitest/vitest.mjs"), "run", "--config", "vitest.crash.config.ts"],
          "tests/system/crash/kills.test.ts",
        ],
        { cwd: root, env },
      );
      const { kills: done, faults, accepted, researches } = JSON.parse(readFileSync(report, "utf8"));
      const first = faults.length === 0 ? "" : `: ${faults[0]}`;
      return {
        ours: `${done} kills in ${researches} projects with ${accepted} accepted results: ${faults.length} entries corrupt, lost or doubled${first}`,
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
