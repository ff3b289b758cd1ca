import { cpSync } from "node:fs";
import { join } from "node:path";
import { interleavedCpu, cpuOf, seconds } from "../../cpu.mjs";
import { cli, inFolder, mustRun, root } from "../../measure.mjs";

const sample = "sample-sim2real-transfer-dexterous-manipulation-2026-11-22";
const hello = [
  {
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
  },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/list" },
];
const input = hello.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");

/** What is started, and how many times bare Node's start it may take. */
const starts = [
  { what: "`status` of the sample", hold: 3.2, args: ["status", sample] },
  { what: "`list` of one", hold: 3.2, args: ["list"] },
  { what: "`run` of a finished project", hold: 5, args: ["run", sample, "--agent", "baseline"] },
  { what: "MCP ready to list tools", hold: 5, args: ["mcp"], input },
];

export const row = {
  name: "start",
  what: `starts, in CPU seconds, compared with bare Node in the same run: ${starts.map(({ what }) => what).join("; ")}`,
  was: "4.9 ×, 3.2 ×, 10.0 ×, 9.2 × (commit ac64460, Node 20.20.2, 2026-11-22)",
  hold: starts.map(({ hold }) => `≤ ${hold} ×`).join(", "),
  command: "npm run bench -- start",
  async run() {
    return await inFolder(async (cwd) => {
      cpSync(join(root, "researches", sample), join(cwd, "researches", sample), { recursive: true });
      const env = { ...process.env, HOME: cwd, XDG_STATE_HOME: join(cwd, "state"), NO_COLOR: "1" };
      const { stdout } = await mustRun(process.execPath, [cli, "mcp"], { cwd, env, input });
      if (!stdout.includes('"search_papers"')) throw new Error("the MCP server listed no tools");
      const [bare, ...ours] = await interleavedCpu(9, [
        () => cpuOf(process.execPath, ["-e", "0"], { cwd, env }),
        ...starts.map(
          ({ args, input }) =>
            () =>
              cpuOf(process.execPath, [cli, ...args], { cwd, env, input }),
        ),
      ]);
      const show = (value) => `${(value / bare).toFixed(1)} × (${value.toFixed(2)})`;
      return { bare: seconds(bare), ours: ours.map(show).join(", ") };
    });
  },
};
