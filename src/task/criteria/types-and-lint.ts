import { join } from "node:path";
import { shellWord } from "../../engine/lib/sanitise.js";
import type { LintClean, NoTypeErrors } from "../generated/ralph.js";
import { entriesOf, localProgram, manifestOf, pythonOf, scriptOf, textOf } from "../place/project.js";
import { checkCommand, type CheckResult, type Place } from "../place/run.js";

/** Runs the project's type checker or linter. */
export async function checkTool(criterion: LintClean | NoTypeErrors, place: Place): Promise<CheckResult> {
  const { cwd } = place;
  const command = criterion.command ?? (criterion.type === "lint_clean" ? linterOf(cwd) : typeCheckerOf(cwd));
  if (command === undefined) {
    const supported =
      criterion.type === "lint_clean"
        ? `linter detected (a script "lint", eslint, oxlint, biome, ruff, clippy)`
        : "type checker detected (tsconfig.json, mypy, Cargo.toml)";
    return { passed: false, detail: `No supported ${supported}; name the command in the criterion's "command".` };
  }
  const result = await checkCommand(command, criterion, place);
  return { ...result, detail: result.passed ? `Nothing found by ${command}.` : `${command}: ${result.detail}` };
}

/** The command of the type checker that the project is configured for. */
export function typeCheckerOf(folder: string): string | undefined {
  const names = entriesOf(folder);
  const hasFile = (name: string) => names.includes(name);
  if (hasFile("tsconfig.json")) return `${shellWord(localProgram(folder, "tsc"))} --noEmit`;
  if (hasFile("mypy.ini") || hasFile(".mypy.ini") || mentions(folder, "mypy")) return `${python(folder)} -m mypy .`;
  return hasFile("Cargo.toml") ? "cargo check" : undefined;
}

/** The command of the linter that the project is configured for. Its own script takes priority. */
export function linterOf(folder: string): string | undefined {
  if (scriptOf(folder, "lint") !== undefined) return "npm run --silent lint";
  const names = entriesOf(folder);
  const dependencies = { ...manifestOf(folder)?.dependencies, ...manifestOf(folder)?.devDependencies };
  const hasMatch = (pattern: RegExp) => names.some((name) => pattern.test(name));
  const local = (name: string) => shellWord(localProgram(folder, name));
  if ("eslint" in dependencies || hasMatch(/^(?:eslint\.config\.|\.eslintrc)/))
    return `${local("eslint")} --max-warnings 0 .`;
  if ("oxlint" in dependencies || hasMatch(/^\.?oxlint(?:rc)?\./)) return `${local("oxlint")} --deny-warnings`;
  if ("@biomejs/biome" in dependencies || hasMatch(/^biome\.jsonc?$/)) return `${local("biome")} lint .`;
  if (hasMatch(/^\.?ruff\.toml$/) || mentions(folder, "ruff")) return "ruff check .";
  return names.includes("Cargo.toml") ? "cargo clippy --quiet -- -D warnings" : undefined;
}

const python = (folder: string): string => shellWord(pythonOf(folder));

/** Whether the files of a Python project mention a tool. */
const mentions = (folder: string, tool: string): boolean =>
  ["pyproject.toml", "setup.cfg", "requirements-dev.txt", "dev-requirements.txt", "requirements.txt"].some((name) =>
    new RegExp(`(?:^|[^a-z])${tool}(?:[^a-z]|$)`, "m").test(textOf(join(folder, name))),
  );
