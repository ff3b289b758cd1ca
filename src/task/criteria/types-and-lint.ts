import { join } from "node:path";
import { shellWord } from "../../engine/lib/sanitise.js";
import type { LintClean, NoTypeErrors } from "../generated/ralph.js";
import { entriesOf, localProgram, manifestOf, pythonOf, scriptOf, textOf } from "../place/project.js";
import { checkCommand, type CheckResult, type Place } from "../place/run.js";

/** What a project's own type checker or linter says. */
export async function checkTool(criterion: LintClean | NoTypeErrors, place: Place): Promise<CheckResult> {
  const { cwd } = place;
  const line = criterion.command ?? (criterion.type === "lint_clean" ? linterOf(cwd) : typeCheckerOf(cwd));
  if (line === undefined) {
    const known =
      criterion.type === "lint_clean"
        ? `linter detected (a script "lint", eslint, oxlint, biome, ruff, clippy)`
        : "type checker detected (tsconfig.json, mypy, Cargo.toml)";
    return { passed: false, detail: `No supported ${known}; name the command in the criterion's "command".` };
  }
  const found = await checkCommand(line, criterion, place);
  return { ...found, detail: found.passed ? `Nothing found by ${line}.` : `${line}: ${found.detail}` };
}

/** The command of the type checker that the project is set up for. */
export function typeCheckerOf(folder: string): string | undefined {
  const names = entriesOf(folder);
  const has = (name: string) => names.includes(name);
  if (has("tsconfig.json")) return `${shellWord(localProgram(folder, "tsc"))} --noEmit`;
  if (has("mypy.ini") || has(".mypy.ini") || mentions(folder, "mypy")) return `${python(folder)} -m mypy .`;
  return has("Cargo.toml") ? "cargo check" : undefined;
}

/** The command of the linter that the project is set up for; its own script goes before all others. */
export function linterOf(folder: string): string | undefined {
  if (scriptOf(folder, "lint") !== undefined) return "npm run --silent lint";
  const names = entriesOf(folder);
  const all = { ...manifestOf(folder)?.dependencies, ...manifestOf(folder)?.devDependencies };
  const has = (pattern: RegExp) => names.some((name) => pattern.test(name));
  const local = (name: string) => shellWord(localProgram(folder, name));
  if ("eslint" in all || has(/^(?:eslint\.config\.|\.eslintrc)/)) return `${local("eslint")} --max-warnings 0 .`;
  if ("oxlint" in all || has(/^\.?oxlint(?:rc)?\./)) return `${local("oxlint")} --deny-warnings`;
  if ("@biomejs/biome" in all || has(/^biome\.jsonc?$/)) return `${local("biome")} lint .`;
  if (has(/^\.?ruff\.toml$/) || mentions(folder, "ruff")) return "ruff check .";
  return names.includes("Cargo.toml") ? "cargo clippy --quiet -- -D warnings" : undefined;
}

const python = (folder: string): string => shellWord(pythonOf(folder));

/** Whether the Python project says that it uses a tool. */
const mentions = (folder: string, tool: string): boolean =>
  ["pyproject.toml", "setup.cfg", "requirements-dev.txt", "dev-requirements.txt", "requirements.txt"].some((name) =>
    new RegExp(`(?:^|[^a-z])${tool}(?:[^a-z]|$)`, "m").test(textOf(join(folder, name))),
  );
