import { cli, interleaved, ms, mustRun } from "../../measure.mjs";

export const row = {
  name: "version",
  what: "start-up: `--version`",
  hold: "≤ 2 × bare Node",
  command: "research-ralph --version",
  async run() {
    const [bare, ours] = await interleaved(15, [
      () => mustRun(process.execPath, ["-e", "0"]),
      () => mustRun(process.execPath, [cli, "--version"]),
    ]);
    return { bare: ms(bare), ours: `${ms(ours)} (${(ours / bare).toFixed(2)} ×)` };
  },
};
