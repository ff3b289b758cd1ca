// The assistant `ralph`: its starts compared with bare Node, its memory at the prompt, its settings, and its heap over
// a long dialogue.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { load } from "../../../scripts/bundle.mjs";
import { cpuOf, interleavedCpu } from "../../cpu.mjs";
import { dist, inFolder, median, ms, rounds, size } from "../../measure.mjs";

const ralph = join(dist, "ralph.js");
const turns = size(1_000, 5);
const early = size(200, 2);
const settings = { api_url: "http://127.0.0.1:9/v1/chat/completions", model: "local-model", context_window: 32_000 };

export const row = {
  name: "assistant",
  what: "`ralph --version` and `ralph` to its prompt, CPU; resident memory at the prompt; reading the settings; heap after 200 and 1,000 turns",
  hold: "≤ 2 × bare Node (< 100 ms where that takes ≤ 50 ms); stated; < 50 ms; flat",
  command: "ralph --version; ralph",
  async run() {
    return await inFolder(async (cwd) => {
      mkdirSync(join(cwd, ".local/ralph"), { recursive: true });
      writeFileSync(join(cwd, ".local/ralph/config.json"), JSON.stringify(settings), { mode: 0o600 });
      const env = { ...process.env, HOME: cwd };
      const [bare, version] = await interleavedCpu(9, [
        () => cpuOf(process.execPath, ["-e", "0"], { cwd, env }),
        () => cpuOf(process.execPath, [ralph, "--version"], { cwd, env }),
      ]);
      const starts = { bare: [], ours: [] };
      for (let round = 0; round < rounds(7); round += 1) {
        starts.bare.push(await atPrompt(["-e", "process.stdout.write('> '); process.stdin.resume()"], { cwd, env }));
        starts.ours.push(await atPrompt([ralph], { cwd, env }));
      }
      const of = (which, what) => median(starts[which].map((start) => start[what]));
      const times = (ours, theirs) => `${ms(ours)} (${(ours / theirs).toFixed(2)} ×)`;
      return {
        bare: `${ms(bare * 1000)}, ${ms(of("bare", "cpuMs"))}; ${of("bare", "megabytes")} MB`,
        ours: `${times(version * 1000, bare * 1000)}, ${times(of("ours", "cpuMs"), of("bare", "cpuMs"))}; ${of("ours", "megabytes")} MB; ${ms(await settingsTime(cwd))}; ${await heap(cwd)}`,
      };
    });
  },
};

/** CPU milliseconds and resident megabytes of a Node program when its prompt stands on a terminal. */
async function atPrompt(args, { cwd, env }) {
  const command = [process.execPath, ...args].map((word) => `'${word.replaceAll("'", `'"'"'`)}'`).join(" ");
  const terminal = spawn("script", ["-qefc", `exec ${command}`, "/dev/null"], {
    cwd,
    env,
    stdio: ["pipe", "pipe", "ignore"],
  });
  try {
    let shown = "";
    for await (const chunk of terminal.stdout) {
      shown += chunk;
      if (shown.includes("> ")) break;
    }
    const [pid] = readFileSync(`/proc/${terminal.pid}/task/${terminal.pid}/children`, "utf8").trim().split(" ");
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    const resident = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    // In hundredths of a second, as Linux counts for every program.
    return { cpuMs: (Number(fields[11]) + Number(fields[12])) * 10, megabytes: Math.round(resident / 1000) };
  } finally {
    terminal.kill();
  }
}

/** Milliseconds to read and check the settings, the first time in a process. */
async function settingsTime(home) {
  const { settings, config } = await load({ settings: "src/assistant/settings.ts", config: "src/compose/config.ts" });
  const begun = performance.now();
  await settings.settingsOf({ keys: config.configKeys, cwd: home, env: { HOME: home } });
  return performance.now() - begun;
}

/** Heap in use after 200 and after all turns of one session, against a model that answers at once. */
async function heap(home) {
  const { session, settings, config, compose } = await load({
    session: "src/assistant/session.ts",
    settings: "src/assistant/settings.ts",
    config: "src/compose/config.ts",
    compose: "src/compose/assistant.ts",
  });
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const env = { HOME: home };
  const request = { keys: config.configKeys, cwd: home, env };
  const clock = { now: Date.now, sleep: async () => undefined };
  const io = { cwd: home, env, clock, runProgram: () => undefined };
  const opened = new session.Session({
    io,
    // What the program itself hands over, so that this row fails where it hands over less than a session asks for.
    services: compose.programServices(io),
    request,
    settings: await settings.settingsOf(request),
    fetch: async () => new Response(stream(), { headers: { "content-type": "text/event-stream" } }),
    ask: async () => "no",
    say: () => undefined,
  });
  const used = () => {
    collect();
    return Math.round(process.memoryUsage().heapUsed / 1e6);
  };
  let before = 0;
  for (let turn = 1; turn <= turns; turn += 1) {
    const spoken = await opened.answer(
      `question ${turn} ${"q".repeat(400)}`,
      new AbortController().signal,
      () => undefined,
    );
    if ("failure" in spoken) throw new Error(spoken.failure.message);
    if (turn === early) before = used();
  }
  const late = used();
  await opened.close();
  return `${before} MB, ${late} MB`;
}

function stream() {
  const chunk = (choices, more = {}) =>
    `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 0, model: "m", choices, ...more })}\n\n`;
  return [
    chunk([{ index: 0, delta: { role: "assistant", content: "a".repeat(2000) }, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: "stop" }]),
    chunk([], { usage: { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 } }),
    "data: [DONE]\n\n",
  ].join("");
}
