import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { load } from "../../../scripts/bundle.mjs";
import { Absent, inFolder, median, ms, size } from "../../measure.mjs";

const times = size(7, 1);

export const row = {
  name: "sandbox-docker",
  what: "a program in a Docker container (image RR_IMAGE, else node:20): from the call to its first line, and from its last line until the container is removed",
  hold: "≤ 1.5 s, ≤ 0.5 s",
  command: "npm run bench -- sandbox-docker",
  async run() {
    const { open, access } = await load({
      open: "src/engine/sandbox/open-sandbox.ts",
      access: "src/engine/process/access.ts",
    });
    const image = process.env.RR_IMAGE ?? "node:20";
    const { sandbox } = await open.openSandbox("docker", { env: process.env, image }).catch((error) => {
      throw new Absent(error.message);
    });
    return await inFolder(async (folder) => {
      const cwd = mkdtempSync(join(folder, "workspace-"));
      const taken = [[], []];
      for (let round = 0; round < times; round++) {
        const began = performance.now();
        const lines = sandbox.exec({
          command: "sh",
          args: ["-c", "echo begun"],
          cwd,
          env: { PATH: process.env.PATH },
          stdin: "",
          timeoutMs: 60_000,
          idleMs: 0,
          isFinished: () => false,
          signal: new AbortController().signal,
          access: { ...access.noAccess, write: [cwd] },
        });
        const first = await lines.next();
        if (first.done) throw new Error(first.value.startError?.message ?? first.value.stderr);
        const started = performance.now();
        let step = first;
        while (!step.done) step = await lines.next();
        taken[0].push(started - began);
        taken[1].push(performance.now() - started);
      }
      return { ours: taken.map((values) => ms(median(values))).join(", ") };
    });
  },
};
