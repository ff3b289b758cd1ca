import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { sharedPackage } from "./built.js";

/** The package as npm packs it, from the sources as they are; an absolute path. */
export async function packed(): Promise<string> {
  const built = await sharedPackage();
  const root = mkdtempSync(join(tmpdir(), "rr-packed-"));
  const { files } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { files: string[] };
  // An entry that begins with "!" names what npm leaves out of a folder.
  const packedPaths = files.filter((path) => !path.startsWith("!"));
  for (const file of ["package.json", "README.md", "LICENSE", ...packedPaths])
    cpSync(join(file === "dist" ? built : packageFile("."), file), join(root, file), { recursive: true });
  const { stdout, stderr } = npm(["pack", "--ignore-scripts", "--silent"], root);
  const file = join(root, stdout.trim());
  if (!existsSync(file)) throw new Error(`npm pack: ${stderr}`);
  return file;
}

/** Runs npm with the user's own settings: how a registry is reached is not the tests' affair. */
export const npm = (args: readonly string[], cwd: string) => spawnSync("npm", args, { cwd, encoding: "utf8" });

/** What npm says where neither its registry nor its cache can be had. */
const unreachable = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|EIDLETIMEOUT/;

/** The package installed in an empty folder, which is answered; `problem`: why npm can install nothing here. */
export async function installed(): Promise<{ folder: string; file: string } | { problem: string }> {
  const file = await packed();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "rr-installed-")));
  mkdirSync(join(folder, "home"));
  const { status, stderr } = npm(["install", ...quietly, file], folder);
  if (status === 0) return { folder, file };
  if (unreachable.test(stderr)) return { problem: "npm reaches neither its registry nor a cache" };
  throw new Error(`npm install ended with ${status}: ${stderr}`);
}

export const quietly = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
