import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openSandbox } from "../../../src/engine/sandbox/open-sandbox.js";
import { type FakeLlm, runReal, startFakeLlm } from "./support/agents.js";

let folder = "";
let server: FakeLlm;
beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "in-sandbox-")));
});
afterEach(async () => {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

for (const cli of ["claude", "codex"] as const)
  it(`tries ${cli}`, async () => {
    server = await startFakeLlm((request) => {
      console.log(request.api, JSON.stringify(Object.keys(request)));
      return request.results.length === 0
        ? {
            text: "w",
            tools: [
              request.api === "anthropic"
                ? { name: "Bash", input: { command: "id; env | grep -i key; pwd; echo hi > out.txt" } }
                : { name: "exec_command", input: { cmd: "id; env | grep -i key; echo hi > out.txt" } },
            ],
          }
        : { text: `Done: ${JSON.stringify(request.results)}` };
    });
    const { sandbox } = await openSandbox("bubblewrap", { env: process.env });
    const { events, workspace } = await runReal(cli, "do it", {
      folder,
      server,
      settings: { exec: sandbox!.exec, sandbox: sandbox! },
      access: { shell: true },
    });
    console.log(JSON.stringify(events, null, 1));
    expect(existsSync(join(workspace, "out.txt"))).toBe(true);
  });
