#!/usr/bin/env node
// Speaks Claude Code's stream, and does the work as the baseline agent does. Where FAULTS_GATE names a folder, it first writes
// `started` there and waits for `go`, so that a test can do something while an agent is at work.
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const { FAULTS_GATE: gate, FAULTS_BASELINE: baseline } = process.env;
const brief = await text(process.stdin);
if (gate) {
  writeFileSync(join(gate, "started"), process.cwd());
  while (!existsSync(join(gate, "go"))) await new Promise((resolve) => setTimeout(resolve, 20));
}
const child = spawn(process.execPath, [baseline], { stdio: ["pipe", "pipe", "inherit"] });
child.stdin.end(brief);
const [said, code] = await Promise.all([text(child.stdout), new Promise((resolve) => child.once("exit", resolve))]);
const usage = { input_tokens: 10, output_tokens: 5 };
console.log(JSON.stringify({ type: "system", subtype: "init", model: "slow-1" }));
console.log(
  JSON.stringify({ type: "result", subtype: "success", is_error: code !== 0, result: said, usage, total_cost_usd: 0 }),
);
