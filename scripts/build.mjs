// Compiles src/ into dist/. Also npm's `prepare`: in a git clone it builds; in an unpacked package, which has no src/, it does nothing.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const cli = join(root, "dist/cli.js");

function build() {
  rmSync(join(root, "dist"), { recursive: true, force: true });
  const { status } = spawnSync(
    process.execPath,
    [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.build.json"],
    {
      cwd: root,
      stdio: "inherit",
    },
  );
  if (status !== 0) return status ?? 1;
  if (!readFileSync(cli, "utf8").startsWith("#!/usr/bin/env node\n")) {
    console.error(
      "dist/cli.js does not start with '#!/usr/bin/env node': put it back on the first line of src/cli.ts.",
    );
    return 1;
  }
  chmodSync(cli, 0o755);
  return 0;
}

if (existsSync(join(root, "src"))) process.exitCode = build();
