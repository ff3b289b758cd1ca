import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { temporaryFolder } from "../folders.js";

/**
 * Puts a `git` before the real one that writes down what it is asked and may fail a commit with words of its own.
 * Returns what was asked since.
 */
export function listeningGit(answer?: string, also = ":"): () => string[] {
  const folder = temporaryFolder();
  const hookless = "-c core.hooksPath=/dev/null -c core.fsmonitor=false ";
  const [log, real] = [join(folder, "log"), execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim()];
  const instead = answer === undefined ? "" : `case "$*" in *" commit "*) printf '${answer}' >&2; exit 1;; esac\n`;
  writeFileSync(log, "");
  writeFileSync(join(folder, "git"), `#!/bin/sh\necho "$*" >> '${log}'\n${also}\n${instead}exec '${real}' "$@"\n`, {
    mode: 0o755,
  });
  const { PATH: before } = process.env;
  process.env["PATH"] = `${folder}${delimiter}${before}`;
  onTestFinished(() => void (process.env["PATH"] = before));
  return () => {
    const asked = readFileSync(log, "utf8").split("\n").filter(Boolean);
    writeFileSync(log, "");
    expect(asked.filter((each) => !each.startsWith(hookless))).toEqual([]);
    return asked.map((each) => each.slice(hookless.length));
  };
}
