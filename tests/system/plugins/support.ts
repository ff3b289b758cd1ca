import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A service of this machine that answers everything and keeps what it was told. */
export async function listener(answer: (path: string, body: string) => string = () => "ok") {
  const heard: { readonly path: string; readonly body: string }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (piece: string) => (body += piece));
    request.on("end", () => {
      const path = request.url ?? "";
      heard.push({ path, body });
      response.end(answer(path, body));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { host: `127.0.0.1:${port}`, address: `http://127.0.0.1:${port}`, heard };
}

/** Plugins of a folder, each the body of its hooks, and the configuration that names them. */
export function writePlugins(
  folder: string,
  plugins: Readonly<Record<string, string>>,
  more: Readonly<
    Record<string, { readonly config?: object; readonly allow?: { readonly hosts: readonly string[] } }>
  > = {},
  settings: object = {},
): void {
  mkdirSync(join(folder, "plugins"), { recursive: true });
  for (const [name, hooks] of Object.entries(plugins))
    writeFileSync(
      join(folder, "plugins", `${name}.mjs`),
      `import fs from "node:fs";\nimport { spawn } from "node:child_process";\nexport default { name: "${name}", version: "1.0.0", hooks: {\n${hooks}\n} };\n`,
    );
  const entries = Object.keys(plugins).map((name) => ({ name: `./plugins/${name}.mjs`, ...more[name] }));
  writeFileSync(join(folder, "ralph.config.json"), JSON.stringify({ plugins: entries, ...settings }));
}
