// Takes out what building, testing and measuring made; with --installed what `npm ci` made too. What a user wrote
// stays.
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const made = ["dist", ".build", ".e2e", ".stryker-tmp", "coverage", "reports"];
const installed = process.argv.includes("--installed") ? ["node_modules"] : [];
const packed = readdirSync(root).filter((name) => /^research-ralph-.*\.tgz$/.test(name));

for (const name of [...made, ...packed, ...installed]) rmSync(join(root, name), { recursive: true, force: true });
