import { chmodSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runGit } from "../../../src/engine/storage/git-command.js";
import { openCheckpoints } from "../../../src/engine/storage/checkpoints.js";
import { git, repository, researchIn } from "../../support/folders.js";
import { committedFiles } from "../../../src/research/project-files/layout.js";

/** Live processes (no zombies) whose environment holds `mark`. */
function carriers(mark: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`).includes(mark);
    } catch {
      return false;
    }
  });
}

/**
 * A repository in which adding a research's file hangs, as a clean filter that asks a server does: for longer than a
 * test may take, so that a test which comes to its end has not waited for it.
 */
function hangingFilter(root = repository(), script = "sleep 1000") {
  writeFileSync(join(root, ".gitattributes"), "*.jsonl filter=slow\n");
  git(root, "config", "filter.slow.clean", script);
  return root;
}

describe.skipIf(process.platform !== "linux")("a git that hangs", () => {
  it("is ended with everything it started, also what left its group and what ignores SIGTERM, and nothing waits for its pipes", async () => {
    const root = hangingFilter(repository(), "sh -c 'trap \"\" TERM; setsid sleep 1000 & while :; do sleep 1; done'");
    writeFileSync(join(root, "a.jsonl"), "{}\n");
    process.env["HANG_MARK"] = root;
    try {
      const answer = await runGit(root, ["add", "a.jsonl"], { maxMs: 300 });
      expect(answer).toMatchObject({
        ok: false,
        endReason: "it took longer than 0.3 seconds; a filter of the repository may hang",
      });
      expect(carriers(`HANG_MARK=${root}`).filter((pid) => Number(pid) !== process.pid)).toEqual([]);
      expect(existsSync(join(root, ".git/index.lock"))).toBe(false);
    } finally {
      delete process.env["HANG_MARK"];
    }
  });

  it("is waited for no longer than a moment once the run is to end at once, and not begun again", async () => {
    const root = hangingFilter();
    const folder = researchIn(root);
    const abort = new AbortController();
    const told: string[] = [];
    const checkpoints = await openCheckpoints(folder, committedFiles, (message) => void told.push(message), {
      abort: abort.signal,
    });
    writeFileSync(join(folder, "ledger.jsonl"), "{}\n");
    const commit = checkpoints?.commit("one");
    abort.abort();
    await commit;
    await checkpoints?.finish();
    expect(told).toEqual([
      "No checkpoint: git was ended because the run was interrupted; the next iteration tries again.",
    ]);
    // What was not made is made up for.
    git(root, "config", "filter.slow.clean", "cat");
    const later = await openCheckpoints(folder, committedFiles, (message) => void told.push(message));
    await later?.finish();
    expect(git(root, "log", "-1", "--format=%s").trim()).toBe("What an interrupted run left");
  });

  it("at work on a commit when the run is to end finishes it", async () => {
    const root = hangingFilter(repository(), "sleep 0.3; cat");
    const folder = researchIn(root);
    const abort = new AbortController();
    const checkpoints = await openCheckpoints(folder, committedFiles, () => undefined, { abort: abort.signal });
    writeFileSync(join(folder, "ledger.jsonl"), "{}\n");
    const commit = checkpoints?.commit("one");
    abort.abort();
    await commit;
    expect(git(root, "log", "-1", "--format=%s").trim()).toBe("one");
  });

  it("has ended when it has ended: a process that holds its pipe open is not waited for", async () => {
    const answer = await runGit(repository(), ["-c", "alias.leave=!sleep 1000 & echo done; echo $! >&2", "leave"]);
    process.kill(Number(answer.stderr));
    expect(answer).toMatchObject({ ok: true, stdout: "done" });
  });
});

it("checkpoints run none of the repository's hooks: an agent could have left one", async () => {
  const root = repository();
  const ran = join(root, "ran");
  for (const hook of [
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "post-index-change",
    "reference-transaction",
  ]) {
    const path = join(root, ".git/hooks", hook);
    writeFileSync(path, `#!/bin/sh\necho ${hook} >> '${ran}'\n`);
    chmodSync(path, 0o755);
  }
  const folder = researchIn(root);
  const checkpoints = await openCheckpoints(folder, committedFiles, () => undefined);
  writeFileSync(join(folder, "ledger.jsonl"), "{}\n");
  await checkpoints?.commit("one");
  await checkpoints?.finish();
  expect(git(root, "log", "-1", "--format=%s").trim()).toBe("one");
  expect(existsSync(ran)).toBe(false);
});
