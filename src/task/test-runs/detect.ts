import { type Dirent, existsSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { type TestSteps, withArguments, withScripts } from "./own-command.js";
import { entriesOf, manifestOf, scriptOf, textOf } from "../place/project.js";

export const frameworks = ["vitest", "jest", "mocha", "node:test", "pytest", "unittest", "cargo", "go"] as const;
export type Framework = (typeof frameworks)[number];

/** A framework that a project is set up for, and how its own script calls it, where it has one. */
export interface Detected {
  readonly framework: Framework;
  /** The command line of package.json's script "test", with those of its other scripts that it calls. */
  readonly script?: string;
  /** What `npm test` runs around it. */
  readonly steps?: TestSteps;
  /** These files alone, relative to the project, whatever its own settings name; of cargo and go always all. */
  readonly only?: readonly string[];
}

/**
 * The frameworks that the project in `folder` is set up for, by manifest and script; the first goes before the others.
 */
export function detectTests(folder: string): readonly Detected[] {
  return [
    ...inPackage(folder),
    ...inPython(folder),
    ...byFile(folder, "Cargo.toml", "cargo"),
    ...byFile(folder, "go.mod", "go"),
  ];
}

/** The framework that a command line calls by a single command, as in `npx vitest run a` and `pytest -k b`. */
export function calledIn(command: string): Detected | undefined {
  const isPlain = (name: string) => withArguments(command, name, [], { drop: /(?!)/, valued: /(?!)/ }) !== undefined;
  if (/[;&|\n]/.test(command)) return undefined;
  const framework = (["vitest", "jest", "mocha", "pytest"] as const).find(isPlain);
  if (framework !== undefined) return { framework, script: command };
  if (nodeTest.test(command)) return { framework: "node:test", script: command };
  return /(?:^|\s)cargo test(?:\s|$)/.test(command) ? { framework: "cargo", script: command } : undefined;
}

/** What runs the tests of a project by another program than these, where a script or a Makefile says so. */
export function ownTestCommand(folder: string): string | undefined {
  const script = scriptOf(folder, "test");
  if (script !== undefined && !script.includes("no test specified")) return "npm test";
  const target = entriesOf(folder)
    .filter((name) => /^(?:GNU)?[Mm]akefile$/.test(name))
    .flatMap((name) => /^(test|check)\s*:(?!=)/m.exec(textOf(join(folder, name)))?.[1] ?? [])[0];
  return target === undefined ? undefined : `make ${target}`;
}

const byFile = (folder: string, file: string, framework: Framework): Detected[] =>
  existsSync(join(folder, file)) ? [{ framework }] : [];

const nodeTest = /(?:^|[\s;&|(])(?:node|tsx)\b[^;&|]*\s--test(?:[\s)]|$)/;

function inPackage(folder: string): Detected[] {
  const manifest = manifestOf(folder);
  if (manifest === undefined) return [];
  const find = (name: string) => scriptOf(folder, name);
  const own = find("test");
  const script = own && withScripts(own, find);
  const around = withoutUndefined({ pretest: find("pretest"), posttest: find("posttest") });
  const steps = own === undefined || Object.keys(around).length === 0 ? {} : { steps: around };
  const named = (["vitest", "jest", "mocha"] as const).filter((name) => new RegExp(`\\b${name}\\b`).test(script ?? ""));
  const byScript: Detected[] = named.map((framework) => ({ framework, ...withoutUndefined({ script }), ...steps }));
  if (script !== undefined && nodeTest.test(script)) byScript.push({ framework: "node:test", script, ...steps });
  const all = { ...manifest.dependencies, ...manifest.devDependencies };
  const names = entriesOf(folder);
  const isSet = {
    vitest: "vitest" in all || names.some((name) => name.startsWith("vitest.config.")),
    jest: "jest" in all || manifest.jest !== undefined || names.some((name) => name.startsWith("jest.config.")),
    mocha: "mocha" in all || manifest.mocha !== undefined || names.some((name) => name.startsWith(".mocharc.")),
  };
  const byManifest = (["vitest", "jest", "mocha"] as const)
    .filter((name) => isSet[name] && !named.includes(name))
    .map((framework) => ({ framework, ...steps }));
  return [...byScript, ...byManifest];
}

/** Most test files that are looked into. */
const maxTexts = 50;

function inPython(folder: string): Detected[] {
  const names = entriesOf(folder);
  const has = (file: string, pattern: RegExp) => names.includes(file) && pattern.test(textOf(join(folder, file)));
  const tests = looksLikePython(folder, names) ? testFiles(folder) : [];
  const isPytest =
    names.includes("pytest.ini") ||
    names.includes("conftest.py") ||
    existsSync(join(folder, "tests", "conftest.py")) ||
    has("pyproject.toml", /pytest/) ||
    has("setup.cfg", /\[tool:pytest\]|pytest/) ||
    has("tox.ini", /pytest/) ||
    has("Pipfile", /pytest/) ||
    names.some(
      (name) => /^(?:dev-|test-)?requirements.*\.txt$/.test(name) && /^pytest\b/m.test(textOf(join(folder, name))),
    );
  if (isPytest) return [{ framework: "pytest" }];
  if (tests.length === 0) return [];
  const texts = tests.slice(0, maxTexts).map(textOf);
  const usesUnittest = texts.some((text) => hasLine(text, /^(?:import unittest|from unittest\b)/));
  const usesPytest = texts.some((text) => hasLine(text, /^(?:import pytest|from pytest\b)/));
  // Functions alone are pytest's style: unittest would find nothing in them.
  const isPlain = texts.some((text) => /^(?:async )?def test_/m.test(text));
  return [{ framework: usesUnittest && !usesPytest && !isPlain ? "unittest" : "pytest" }];
}

/** Folders of tests that are not packages of Python, which its own search does not enter, relative to the project. */
export const looseTestFolders = (folder: string): string[] => [
  ...new Set(
    testFiles(folder)
      .map(dirname)
      .filter((path) => path !== folder && !existsSync(join(path, "__init__.py")))
      .map((path) => relative(folder, path)),
  ),
];

const hasLine = (text: string, pattern: RegExp): boolean => text.split("\n").some((line) => pattern.test(line.trim()));

/** What a Python project has in its root; a folder of another language may hold a script and its test somewhere. */
const looksLikePython = (folder: string, names: readonly string[]): boolean =>
  names.some((name) =>
    /^(?:setup\.(?:py|cfg)|pyproject\.toml|tox\.ini|Pipfile|(?:\w+-)?requirements.*\.txt)$/.test(name),
  ) ||
  names.some((name) => name.endsWith(".py") || existsSync(join(folder, name, "__init__.py"))) ||
  ["test", "tests"].some((name) => names.includes(name));

/** Folders that hold no tests of the project's own. */
const foreign = /^(?:\.|node_modules$|venv$|env$|site-packages$|build$|dist$|target$|__pycache__$)/;

/** Most folders that are looked through. */
const maxFolders = 500;

/** Python test files of the project, those nearest to its root first. */
function testFiles(folder: string): string[] {
  const folders = [folder];
  const found: string[] = [];
  for (let at = 0; at < folders.length && at < maxFolders && found.length < maxTexts; at += 1) {
    const within = folders[at] ?? folder;
    for (const entry of entriesIn(within)) {
      const path = join(within, entry.name);
      if (entry.isDirectory() && !foreign.test(entry.name)) folders.push(path);
      else if (entry.isFile() && /^test.*\.py$|_test\.py$/.test(entry.name)) found.push(path);
    }
  }
  return found;
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
