// The live page of a project of 1,000 papers: the processor time until the page has been served once, until it has been
// served again, and how long after a change of its records an open page is told which part changed.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cli, inFolder, ms, size } from "../../measure.mjs";
import { writeProject } from "./report-page.mjs";

const papers = size(1000, 10);

export const row = {
  name: "live-page",
  what: "`web` on a project of 1,000 papers with 8 quotes each: CPU until the page is served, CPU to serve it again, and the time until an open page hears of a change",
  hold: "served again ≤ 0.1 s",
  command: "research-ralph web <folder>",
  async run() {
    if (process.platform !== "linux") throw new Error("CPU is read from /proc, which only Linux has");
    return await inFolder(async (cwd) => {
      const folder = join(cwd, "project");
      writeProject(folder, papers);
      const child = spawn(process.execPath, [cli, "web", folder, "--port", "0"], { stdio: ["ignore", "pipe", "pipe"] });
      try {
        const address = new URL(await firstAddress(child));
        const entered = await fetch(address, { redirect: "manual" });
        const headers = {
          cookie: entered.headers
            .getSetCookie()
            .map((each) => each.split(";", 1)[0])
            .join("; "),
        };
        const before = cpuOf(child.pid);
        const first = await fetch(new URL("/", address), { headers });
        const text = await first.text();
        const once = cpuOf(child.pid);
        const page = new URL(first.url);
        for (let time = 0; time < 5; time++) await (await fetch(page, { headers })).text();
        const again = (cpuOf(child.pid) - once) / 5;
        const told = await timeToChange(new URL("events", page), headers, () => {
          const path = join(folder, "rrd.json");
          const state = JSON.parse(readFileSync(path, "utf8"));
          state.papers_pool[0].notes = "Seen again.";
          writeFileSync(path, JSON.stringify(state, null, 2));
        });
        return {
          ours: `started in ${before.toFixed(2)} CPU s; served (${(text.length / 1e6).toFixed(1)} MB) in ${(once - before).toFixed(2)} CPU s, again in ${again.toFixed(2)}; a change told after ${ms(told)}`,
        };
      } finally {
        child.kill("SIGKILL");
      }
    });
  },
};

/** The address that the command prints. */
function firstAddress(child) {
  let said = "";
  return new Promise((resolve, reject) => {
    const look = (chunk) => {
      said += chunk;
      const address = /http:\/\/127\.0\.0\.1:\d+\/\?t=\S+/.exec(said)?.[0];
      if (address !== undefined) resolve(address);
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    child.once("close", () => reject(new Error(`web ended: ${said.trim().split("\n").at(-1)}`)));
  });
}

/** Milliseconds from a change until the stream of events names a part that changed. */
async function timeToChange(address, headers, change) {
  const { body } = await fetch(address, { headers });
  const reader = body.getReader();
  // What is said at the beginning says nothing of a change.
  await reader.read();
  const started = performance.now();
  change();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error("the stream of events ended");
    if (/papers/.test(Buffer.from(value).toString())) return performance.now() - started;
  }
}

/** CPU seconds of a process so far. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
