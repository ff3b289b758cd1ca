import { constants } from "node:fs";
import { access, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../engine/lib/errors.js";
import { unusableReason } from "../../engine/storage/checkpoints.js";
import { explainSystemError } from "../../engine/storage/explain-system-error.js";
import { runGit } from "../../engine/storage/git-command.js";

/** The result of one check of `doctor`. */
export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  /** Whether a run is impossible if `ok` is false. */
  readonly needed: boolean;
  readonly detail: string;
  readonly fix?: string;
}

const minNode = [20, 19] as const;

/** Checks whether Node is new enough; `version` as in process.version. */
export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.replace("v", "").split(".").map(Number);
  const ok = major > minNode[0] || (major === minNode[0] && minor >= minNode[1]);
  return { name: "Node", ok, needed: true, detail: version, fix: `Install Node ${minNode.join(".")} or newer.` };
}

/**
 * Checks whether git is installed, whether it knows the user's name and email, and whether `cwd` is in a repository.
 * None of these is needed: a project can run without history.
 */
export async function gitFindings(cwd: string): Promise<Finding[]> {
  const git = (...args: string[]) => runGit(cwd, args);
  const version = await git("--version");
  if (!version.ok) {
    return [
      { name: "git", ok: false, needed: false, detail: "not found; projects run without history", fix: "Install git." },
    ];
  }
  const [name, email, insideResult] = await Promise.all([
    git("config", "user.name"),
    git("config", "user.email"),
    git("rev-parse", "--is-inside-work-tree"),
  ]);
  const program: Finding = { name: "git", ok: true, needed: false, detail: version.stdout.replace("git version ", "") };
  const identity: Finding =
    name.stdout !== "" && email.stdout !== ""
      ? { name: "git identity", ok: true, needed: false, detail: `${name.stdout} <${email.stdout}>` }
      : {
          name: "git identity",
          ok: false,
          needed: false,
          detail: "not set; commits use a fallback name",
          fix: 'git config --global user.name "You", and the same for user.email.',
        };
  const isInside = insideResult.ok && insideResult.stdout === "true";
  const isMissing = /not a git repository/i.test(insideResult.stderr);
  const repository: Finding = isInside
    ? { name: "repository", ok: true, needed: false, detail: "this folder is in a repository" }
    : {
        name: "repository",
        ok: false,
        needed: false,
        detail: `${isMissing ? "this folder is not in a repository" : unusableReason(insideResult.ok, insideResult.stderr)}; there will be no history`,
        fix: isMissing ? "research-ralph init" : "git status",
      };
  return [program, identity, repository];
}

/** Checks whether files can be made in `folder`. Makes the folder if it is missing. */
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
