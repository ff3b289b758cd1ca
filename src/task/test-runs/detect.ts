import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { entriesIn } from "../../engine/storage/regular-file.js";
import { type TestSteps, withArguments, withScripts } from "./own-command.js";
import { entriesOf, manifestOf, scriptOf, textOf } from "../place/project.js";

export const frameworks = ["vitest", "jest", "mocha", "node:test", "pytest", "unittest", "cargo", "go"] as const;
export type Framework = (typeof frameworks)[number];

/** A framework that a project is configured for, and how the project's own script calls it. */
export interface DetectedFramework {
  readonly framework: Framework;
  /** The command line of the script "test" in package.json, with the scripts that it calls in their place. */
  readonly script?: string;
  /** The scripts that `npm test` runs before and after the script "test". */
  readonly steps?: TestSteps;
  /** The only files that are tested, relative to the project; absent: all. cargo and go always test all files. */
  readonly files?: readonly string[];
}

/** The frameworks for which the project in `folder` is configured, by manifest and script. The first one is used. */
export function detectTests(folder: string): readonly DetectedFramework[] {
  return [
    ...frameworksOfPackage(folder),
    ...frameworksOfPython(folder),
    ...frameworkOfFile(folder, "Cargo.toml", "cargo"),
    ...frameworkOfFile(folder, "go.mod", "go"),
  ];
}

/** The framework that a command calls, such as `npx vitest run a`; undefined if it does more than one call. */
export function frameworkCalledBy(command: string): DetectedFramework | undefined {
  const isPlainCall = (name: string) =>
    withArguments(command, name, [], { drop: /(?!)/, valued: /(?!)/ }) !== undefined;
  if (/[;&|\n]/.test(command)) return undefined;
  const framework = (["vitest", "jest", "mocha", "pytest"] as const).find(isPlainCall);
  if (framework !== undefined) return { framework, script: command };
  if (nodeTestCall.test(command)) return { framework: "node:test", script: command };
  return /(?:^|\s)cargo test(?:\s|$)/.test(command) ? { framework: "cargo", script: command } : undefined;
}

/** The command of a project that runs its tests with another program, according to a script or a Makefile. */
export function ownTestCommand(folder: string): string | undefined {
  const script = scriptOf(folder, "test");
  if (script !== undefined && !script.includes("no test specified")) return "npm test";
  const target = entriesOf(folder)
    .filter((name) => /^(?:GNU)?[Mm]akefile$/.test(name))
    .flatMap((name) => /^(test|check)\s*:(?!=)/m.exec(textOf(join(folder, name)))?.[1] ?? [])[0];
  return target === undefined ? undefined : `make ${target}`;
}

const frameworkOfFile = (folder: string, file: string, framework: Framework): DetectedFramework[] =>
  existsSync(join(folder, file)) ? [{ framework }] : [];

const nodeTestCall = /(?:^|[\s;&|(])(?:node|tsx)\b[^;&|]*\s--test(?:[\s)]|$)/;

function frameworksOfPackage(folder: string): DetectedFramework[] {
  const manifest = manifestOf(folder);
  if (manifest === undefined) return [];
  const scriptNamed = (name: string) => scriptOf(folder, name);
  const testScript = scriptNamed("test");
  const script = testScript && withScripts(testScript, scriptNamed);
  const npmSteps = withoutUndefined({ pretest: scriptNamed("pretest"), posttest: scriptNamed("posttest") });
  const steps = testScript === undefined || Object.keys(npmSteps).length === 0 ? {} : { steps: npmSteps };
  const namedInScript = (["vitest", "jest", "mocha"] as const).filter((name) =>
    new RegExp(`\\b${name}\\b`).test(script ?? ""),
  );
  const byScript: DetectedFramework[] = namedInScript.map((framework) => ({ framework, script, ...steps }));
  if (script !== undefined && nodeTestCall.test(script)) byScript.push({ framework: "node:test", script, ...steps });
  const dependencies = { ...manifest.dependencies, ...manifest.devDependencies };
  const names = entriesOf(folder);
  const isConfigured = {
    vitest: "vitest" in dependencies || names.some((name) => name.startsWith("vitest.config.")),
    jest:
      "jest" in dependencies || manifest.jest !== undefined || names.some((name) => name.startsWith("jest.config.")),
    mocha:
      "mocha" in dependencies || manifest.mocha !== undefined || names.some((name) => name.startsWith(".mocharc.")),
  };
  const byManifest = (["vitest", "jest", "mocha"] as const)
    .filter((name) => isConfigured[name] && !namedInScript.includes(name))
    .map((framework) => ({ framework, ...steps }));
  return [...byScript, ...byManifest];
}

/** Maximum number of test files that are read. */
const maxReadFiles = 50;

function frameworksOfPython(folder: string): DetectedFramework[] {
  const names = entriesOf(folder);
  const hasMatch = (file: string, pattern: RegExp) => names.includes(file) && pattern.test(textOf(join(folder, file)));
  const testPaths = looksLikePython(folder, names) ? testFiles(folder) : [];
  const isPytest =
    names.includes("pytest.ini") ||
    names.includes("conftest.py") ||
    existsSync(join(folder, "tests", "conftest.py")) ||
    hasMatch("pyproject.toml", /pytest/) ||
    hasMatch("setup.cfg", /\[tool:pytest\]|pytest/) ||
    hasMatch("tox.ini", /pytest/) ||
    hasMatch("Pipfile", /pytest/) ||
    names.some(
      (name) => /^(?:dev-|test-)?requirements.*\.txt$/.test(name) && /^pytest\b/m.test(textOf(join(folder, name))),
    );
  if (isPytest) return [{ framework: "pytest" }];
  if (testPaths.length === 0) return [];
  const texts = testPaths.slice(0, maxReadFiles).map(textOf);
  const usesUnittest = texts.some((text) => hasLine(text, /^(?:import unittest|from unittest\b)/));
  const usesPytest = texts.some((text) => hasLine(text, /^(?:import pytest|from pytest\b)/));
  // Plain test functions are for pytest; unittest would not find them.
  const hasTestFunctions = texts.some((text) => /^(?:async )?def test_/m.test(text));
  return [{ framework: usesUnittest && !usesPytest && !hasTestFunctions ? "unittest" : "pytest" }];
}

/**
 * Folders with tests that are not Python packages, relative to the project. unittest does not search them by itself.
 */
export const looseTestFolders = (folder: string): string[] => [
  ...new Set(
    testFiles(folder)
      .map(dirname)
      .filter((path) => path !== folder && !existsSync(join(path, "__init__.py")))
      .map((path) => relative(folder, path)),
  ),
];

const hasLine = (text: string, pattern: RegExp): boolean => text.split("\n").some((line) => pattern.test(line.trim()));

/** Whether the root folder looks like a Python project. A project in another language may contain some Python tests. */
const looksLikePython = (folder: string, names: readonly string[]): boolean =>
  names.some((name) =>
    /^(?:setup\.(?:py|cfg)|pyproject\.toml|tox\.ini|Pipfile|(?:\w+-)?requirements.*\.txt)$/.test(name),
  ) ||
  names.some((name) => name.endsWith(".py") || existsSync(join(folder, name, "__init__.py"))) ||
  ["test", "tests"].some((name) => names.includes(name));

/** Folders without tests of the project. */
const ignoredFolders = /^(?:\.|node_modules$|venv$|env$|site-packages$|build$|dist$|target$|__pycache__$)/;

/** Maximum number of folders that are searched. */
const maxFolders = 500;

/** Python test files of the project. Files near the root come first. */
function testFiles(folder: string): string[] {
  const folders = [folder];
  const testPaths: string[] = [];
  for (let index = 0; index < folders.length && index < maxFolders && testPaths.length < maxReadFiles; index += 1) {
    const current = folders[index] ?? folder;
    for (const entry of entriesIn(current)) {
      const path = join(current, entry.name);
      if (entry.isDirectory() && !ignoredFolders.test(entry.name)) folders.push(path);
      else if (entry.isFile() && /^test.*\.py$|_test\.py$/.test(entry.name)) testPaths.push(path);
    }
  }
  return testPaths;
}
