import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";

const version = "2026.8.31";
const names = ["everything", "filesystem", "memory"] as const;

const folder = resolve(fileURLToPath(new URL("../../../../.e2e/mcp", import.meta.url)));

/** The program of an installed server. */
export const serverProgram = (name: (typeof names)[number]): string =>
  join(folder, "node_modules/@modelcontextprotocol", `server-${name}`, "dist/index.js");

const isThere = (name: string): boolean => {
  const file = join(folder, "node_modules/@modelcontextprotocol", `server-${name}`, "package.json");
  return existsSync(file) && JSON.parse(readFileSync(file, "utf8")).version === version;
};

/** Installs the servers that are missing (40 MB, once). Throws where that can't be done. */
export async function installServers(): Promise<void> {
  if (names.every(isThere)) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "name": "e2e-mcp", "private": true }\n');
  const packages = names.map((name) => `@modelcontextprotocol/server-${name}@${version}`);
  await execa("npm", ["install", "--no-audit", "--no-fund", "--save-exact", "--ignore-scripts", ...packages], {
    cwd: folder,
    timeout: 300_000,
    stdin: "ignore",
  });
}
