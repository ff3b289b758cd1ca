import { constants } from "node:fs";
import { access, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../engine/lib/errors.js";
import { whyUnusable } from "../../engine/storage/checkpoints.js";
import { explainSystemError } from "../../engine/storage/explain-system-error.js";
import { runGit } from "../../engine/storage/git-command.js";

/** What doctor says about one thing. */
export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  /** Whether nothing can run without it. */
  readonly needed: boolean;
  readonly detail: string;
  readonly fix?: string;
}

const minNode = [20, 19] as const;

/** Whether this Node is new enough; `version` as in process.version. */
export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.replace("v", "").split(".").map(Number);
  const ok = major > minNode[0] || (major === minNode[0] && minor >= minNode[1]);
  return { name: "Node", ok, needed: true, detail: version, fix: `Install Node ${minNode.join(".")} or newer.` };
}

/**
 * Git itself, who commits, and whether `cwd` is in a repository. None of it is needed: a project runs without history.
 */
export async function gitFindings(cwd: string): Promise<Finding[]> {
  const git = (...args: string[]) => runGit(cwd, args);
  const version = await git("--version");
  if (!version.ok) {
    return [
      { name: "git", ok: false, needed: false, detail: "not found; projects run without history", fix: "Install git." },
    ];
  }
  const [name, email, inside] = await Promise.all([
    git("config", "user.name"),
    git("config", "user.email"),
    git("rev-parse", "--is-inside-work-tree"),
  ]);
  const found: Finding = { name: "git", ok: true, needed: false, detail: version.stdout.replace("git version ", "") };
  const who: Finding =
    name.stdout !== "" && email.stdout !== ""
      ? { name: "git identity", ok: true, needed: false, detail: `${name.stdout} <${email.stdout}>` }
      : {
          name: "git identity",
          ok: false,
          needed: false,
          detail: "not set; commits use a fallback name",
          fix: 'git config --global user.name "You", and the same for user.email.',
        };
  const isInside = inside.ok && inside.stdout === "true";
  const isNone = /not a git repository/i.test(inside.stderr);
  const repository: Finding = isInside
    ? { name: "repository", ok: true, needed: false, detail: "this folder is in a repository" }
    : {
        name: "repository",
        ok: false,
        needed: false,
        detail: `${isNone ? "this folder is not in a repository" : whyUnusable(inside.ok, inside.stderr)}; there will be no history`,
        fix: isNone ? "research-ralph init" : "git status",
      };
  return [found, who, repository];
}

/** Whether files can be made in `folder`, which is made itself if need be. */
export async function folderFinding(name: string, folder: string): Promise<Finding> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.R_OK | constants.X_OK);
    const trial = await mkdtemp(join(folder, ".doctor-"));
    await writeFile(join(trial, "file"), "x").finally(() => rm(trial, { recursive: true, force: true }));
    return { name, ok: true, needed: true, detail: `${folder} can be written` };
  } catch (error) {
    return {
      name,
      ok: false,
      needed: true,
      detail: messageOf(explainSystemError(error, folder)),
      fix: `Make ${folder} writable, or free some space.`,
    };
  }
}
