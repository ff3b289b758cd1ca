// The baseline agent, which takes up to so long in these tests: done at once, it is hardly ever met at work.
import { setTimeout as sleep } from "node:timers/promises";

await sleep(Math.random() * Number(process.env["TEST_AGENT_MS"] ?? 0));
await import("../../../../src/research/baseline-agent/baseline-agent-main.js");
