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
  /** The same kills as `npm run test:crash`, which looks closer; here for the numbers. */
  async run() {
    const folder = mkdtempSync(join(tmpdir(), "bench-"));
    const report = join(folder, "report.json");
    try {
      const env = { ...process.env, RR_KILLS: String(kills), RR_REPORT: report };
      await run(
        process.execPath,
        [join(root, "node_modules/vitest/vitest.mjs"), "run", "--config", "vitest.crash.config.ts"],
        { cwd: root, env },
      );
      const { faults, accepted, researches } = JSON.parse(readFileSync(report, "utf8"));
      const first = faults.length === 0 ? "" : `: ${faults[0]}`;
      return { ours: `${faults.length}${first} (${accepted} accepted records, ${researches} researches to COMPLETE)` };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
