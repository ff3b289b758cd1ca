import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { load } from "../../../scripts/bundle.mjs";
import { Absent, inFolder, ms, size } from "../../measure.mjs";

/** Of these the fastest counts: what else the machine does only adds. */
const repeats = size(25, 1);
const held = { start: 15, relay: 60, check: 5 };

export const row = {
  name: "sandbox",
  what: "`true` started on the host; how much more in bubblewrap, how much more with a way out (proxy and relay); one check by the watcher of a sandbox of 40 processes; the fastest of 25 each",
  hold: `≤ ${held.start} ms, ≤ ${held.relay} ms, ≤ ${held.check} ms`,
  command: "npm run bench -- sandbox",
  async run() {
    const { open, host, watcher, limits, access } = await load({
      open: "src/engine/sandbox/open-sandbox.ts",
      host: "src/engine/process/run-process.ts",
      watcher: "src/engine/sandbox/watcher.ts",
      limits: "src/engine/sandbox/sandbox.ts",
      access: "src/engine/process/access.ts",
    });
    const { sandbox, why } = await open.openSandbox("auto", { env: process.env });
    if (sandbox?.name !== "bubblewrap") throw new Absent(`no bubblewrap here (${why})`);
    return await inFolder(async (folder) => {
      const cwd = mkdtempSync(join(folder, "workspace-"));
      const request = (hosts, command = "true", args = []) => ({
        command,
        args,
        cwd,
        env: { PATH: process.env.PATH },
        stdin: "",
        timeoutMs: 60_000,
        idleMs: 0,
        isFinished: () => false,
        signal: new AbortController().signal,
        access: { ...access.noAccess, write: [cwd], hosts },
      });
      const time = async (exec, hosts) => {
        const began = performance.now();
        const lines = exec(request(hosts));
        let step = await lines.next();
        while (!step.done) step = await lines.next();
        if (step.value.exitCode !== 0) throw new Error(step.value.stderr);
        return performance.now() - began;
      };
      const taken = [[], [], []];
      for (let round = 0; round <= repeats; round++) {
        const times = [
          await time(host.runProcess, []),
          await time(sandbox.exec, []),
          await time(sandbox.exec, ["example.org:443"]),
        ];
        // The first of each finds cold files.
        if (round > 0) for (const [index, value] of times.entries()) taken[index].push(value);
      }
      const [bare, inside, online] = taken.map((each) => Math.min(...each));
      const check = await checkMany(sandbox, request, watcher, limits);
      rmSync(cwd, { recursive: true, force: true });
      return { bare: ms(bare), ours: `${ms(inside - bare)}, ${ms(online - inside)}, ${ms(check)}` };
    });
  },
};

/** The fastest of many checks of a sandbox with many processes in it. */
async function checkMany(sandbox, request, { makeCheck }, { defaultLimits }) {
  const ending = new AbortController();
  const many = "i=0; while [ $i -lt 38 ]; do sleep 60 & i=$((i+1)); done; echo ready; wait";
  let root = 0;
  const lines = sandbox.exec({
    ...request([], "sh", ["-c", many]),
    signal: ending.signal,
    onStart: (pid) => (root = pid),
  });
  await lines.next();
  try {
    const check = makeCheck(root, [process.cwd()], defaultLimits);
    check();
    const taken = [];
    for (let round = 0; round < repeats; round++) {
      const began = performance.now();
      const exceeded = check();
      taken.push(performance.now() - began);
      if (exceeded !== undefined) throw new Error(exceeded);
    }
    return Math.min(...taken);
  } finally {
    ending.abort();
    await lines.next();
  }
}
