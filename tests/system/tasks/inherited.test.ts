import { spawn } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { noBubblewrap, sandboxPath, skippedFor } from "../../support/processes/bubblewrap.js";
import { sharedPackage } from "../../support/processes/built.js";

let top: string;
beforeEach(() => (top = realpathSync(mkdtempSync(join(tmpdir(), "inherited-")))));
afterEach(() => rmSync(top, { recursive: true, force: true }));

/** Node closes the lower ones in its children itself. */
const at = 40;

test.skipIf(noBubblewrap !== undefined)(
  `a folder that stood open when the run began leads no agent out of bubblewrap${skippedFor(noBubblewrap)}`,
  async () => {
    for (const name of ["work", "home"]) mkdirSync(join(top, name));
    writeFileSync(join(top, "secret"), "PLANTED");
    const folder = openSync(top, "r");
    const look = `cat /proc/self/fd/${at}/secret > found 2>&1; echo x > a.txt; echo done`;
    const agent = `cmd:sh -c 'cat > /dev/null; ${look}'`;
    const args = ["task", "Make a.txt", "--check", "test -s a.txt", "--sandbox", "bubblewrap", "--agent", agent];
    const stdio = [...["ignore", "ignore", "ignore"], ...Array<"ignore">(at - 3).fill("ignore"), folder] as const;
    const child = spawn(process.execPath, [join(await sharedPackage(), "dist/cli.js"), ...args], {
      cwd: join(top, "work"),
      env: { PATH: sandboxPath, HOME: join(top, "home") },
      stdio: [...stdio] as ("ignore" | number)[],
    });
    closeSync(folder);
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(readFileSync(join(top, "work/found"), "utf8")).toMatch(/Not a directory|No such file/);
  },
  120_000,
);
