import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const templates = new Map<string, string>();

/** Fills `folder` with a copy of what `make` makes of an empty one, which is done once in a process for each `name`. */
export function copyTemplate(folder: string, name: string, make: (at: string) => void): void {
  let template = templates.get(name);
  if (template === undefined) {
    template = mkdtempSync(join(tmpdir(), "template-"));
    make(template);
    templates.set(name, template);
  }
  cpSync(template, folder, { recursive: true });
}

/** Makes an empty repository with a person's name, on the branch main. */
function makeRepository(at: string): void {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: at });
  // Without the sample hooks, which are most of a new repository's files.
  git("init", "-q", "-b", "main", "--template=");
  for (const name of ["hooks", "info"]) mkdirSync(join(at, ".git", name));
  git("config", "user.name", "A Person");
  git("config", "user.email", "person@example.org");
}

/** `templateRepository` for callers that can't wait. */
export const templateRepositoryNow = (folder: string): void => copyTemplate(folder, "repository", makeRepository);

/** Fills `folder` with a copy of an empty repository that has `user.name` and `user.email` set. */
export async function templateRepository(folder: string): Promise<void> {
  templateRepositoryNow(folder);
}
