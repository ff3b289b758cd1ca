#!/usr/bin/env node
// Reads its paper well, and ends once code has settled the one that is retracted; with `claude` it speaks that CLI's stream.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { goodResult, leave, unit } from "../../hostile/agents/brief.mjs";

const ledger = join(process.env.HOSTILE_ROOT, "researches", "small-matter", "ledger.jsonl");
const isSettled = () => existsSync(ledger) && readFileSync(ledger, "utf8").includes('"unit":"second"');
// Beside an agent that nothing confines nothing is prepared, so that one does not wait for it.
const looks = process.env.WAITS_AS === "claude" ? 600 : 10;
for (let at = 0; unit.kind === "paper" && !isSettled() && at < looks; at += 1) await sleep(50);
leave(goodResult());

if (process.env.WAITS_AS === "claude") {
  const usage = { input_tokens: 900, output_tokens: 50 };
  console.log(JSON.stringify({ type: "system", subtype: "init", session_id: "s", model: "fake-1", tools: ["Write"] }));
  const end = { type: "result", subtype: "success", is_error: false, result: "Done.", num_turns: 2 };
  console.log(JSON.stringify({ ...end, total_cost_usd: 0.01, usage, modelUsage: {} }));
} else console.log("Done.");
