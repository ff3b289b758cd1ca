import { existsSync } from "node:fs";
import { join } from "node:path";
import { given } from "../../engine/lib/given.js";
import { type TestSteps, withScripts } from "./own-command.js";
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

const byFile = (folder: string, file: string, framework: Framework): Detected[] =>
  existsSync(join(folder, file)) ? [{ framework }] : [];

const nodeTest = /(?:^|[\s;&|(])(?:node|tsx)\b[^;&|]*\s--test(?:[\s)]|$)/;

function inPackage(folder: string): Detected[] {
  const manifest = manifestOf(folder);
  if (manifest === undefined) return [];
  const find = (name: string) => scriptOf(folder, name);
  const own = find("test");
  const script = own && withScripts(own, find);
  const around = given({ pretest: find("pretest"), posttest: find("posttest") });
  const steps = own === undefined || Object.keys(around).length === 0 ? {} : { steps: around };
  const named = (["vitest", "jest", "mocha"] as const).filter((name) => new RegExp(`\\b${name}\\b`).test(script ?? ""));
  const byScript: Detected[] = named.map((framework) => ({ framework, ...given({ script }), ...steps }));
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

function inPython(folder: string): Detected[] {
  const names = entriesOf(folder);
  const has = (file: string, pattern: RegExp) => names.includes(file) && pattern.test(textOf(join(folder, file)));
  const tests = testFiles(folder, names);
  const isPytest =
    names.includes("pytest.ini") ||
    names.includes("conftest.py") ||
    existsSync(join(folder, "tests", "conftest.py")) ||
    has("pyproject.toml", /pytest/) ||
    has("setup.cfg", /\[tool:pytest\]|pytest/) ||
    has("tox.ini", /pytest/) ||
    names.some(
      (name) => /^(?:dev-|test-)?requirements.*\.txt$/.test(name) && /^pytest\b/m.test(textOf(join(folder, name))),
    );
  if (isPytest) return [{ framework: "pytest" }];
  if (tests.length === 0) return [];
  const texts = tests.slice(0, 50).map(textOf);
  const usesUnittest = texts.some((text) => hasLine(text, /^(?:import unittest|from unittest\b)/));
  const usesPytest = texts.some((text) => hasLine(text, /^(?:import pytest|from pytest\b)/));
  // Functions alone are pytest's style: unittest would find nothing in them.
  const isPlain = texts.some((text) => /^(?:async )?def test_/m.test(text));
  return [{ framework: usesUnittest && !usesPytest && !isPlain ? "unittest" : "pytest" }];
}

const hasLine = (text: string, pattern: RegExp): boolean => text.split("\n").some((line) => pattern.test(line.trim()));

/** Python test files in the folder, and in test folders of it. */
const testFiles = (folder: string, names: readonly string[]): string[] => {
  const isTest = (name: string) => /^test.*\.py$|_test\.py$/.test(name);
  const inner = names.filter((name) => /^tests?$/.test(name));
  return [
    ...names.filter(isTest).map((name) => join(folder, name)),
    ...inner.flatMap((name) =>
      entriesOf(join(folder, name))
        .filter(isTest)
        .map((file) => join(folder, name, file)),
    ),
  ];
};
