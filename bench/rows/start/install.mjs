import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Absent, inFolder, mustRun, root, run } from "../../measure.mjs";

export const row = {
  name: "install",
  what: "`npm install` of the packed package in an empty folder: bytes of node_modules by `du -sb`, packages, and seconds of wall time with a filled cache",
  was: "174.9 MB, 228 packages, 6 with an install script, 21 s (commit 9d779f82, Node 20.20.2, 2026-11-27)",
  hold: "≤ 90 MB, ≤ 110 packages, 0 install scripts",
  command: "npm run bench -- install",
  async run() {
    return await inFolder(async (cwd) => {
      const { stdout } = await mustRun("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", cwd], {
        cwd: root,
      });
      const args = ["install", "--prefer-offline", "--no-audit", "--no-fund", join(cwd, stdout.trim())];
      const { code, took, stderr } = await run("npm", args, { cwd });
      if (code !== 0) throw new Absent(`npm could not install: ${stderr.trim().split("\n")[0]}`);
      const bytes = Number(execFileSync("du", ["-sb", "node_modules"], { cwd, encoding: "utf8" }).split("\t")[0]);
      const { packages } = JSON.parse(readFileSync(join(cwd, "node_modules/.package-lock.json"), "utf8"));
      const scripts = Object.values(packages).filter(({ hasInstallScript }) => hasInstallScript).length;
      const count = Object.keys(packages).length;
      return {
        ours: `${(bytes / 1e6).toFixed(1)} MB, ${count} packages, ${scripts} with an install script, ${(took / 1000).toFixed(0)} s`,
      };
    });
  },
};
