#!/usr/bin/env node
// A command agent that does every unit as the unit agent does, and leaks every key it can find on the way: into its result, its messages,
// stdout and stderr. What it reads besides its environment stands in LEAK_FILE.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const brief = readFileSync(0, "utf8");
const program = fileURLToPath(new URL("../../support/processes/unit-agent.mjs", import.meta.url));
const { stdout, status } = spawnSync(process.execPath, [program], { input: brief, encoding: "utf8" });
const file = process.env.LEAK_FILE === undefined ? "" : readFileSync(process.env.LEAK_FILE, "utf8");
const keys = [...new Set([...Object.values(process.env), ...file.split(/\s+/)].join(" ").match(/planted-\w+/g))].join(
  " ",
);

const prose = new Set([
  "summary",
  "methodology",
  "limitations",
  "notes",
  "description",
  "question",
  "one_liner",
  "pain",
  "insight",
  "text",
]);
const leaking = (value, name) => {
  if (typeof value === "string") return prose.has(name) ? `${value} ${keys}` : value;
  if (Array.isArray(value)) return value.map((each) => leaking(each, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, leaking(inner, key)]));
};
const result = leaking(JSON.parse(readFileSync("result.json", "utf8")), "");
if (Array.isArray(result.patterns))
  result.patterns = result.patterns.map((each) => `${each} ${keys}`.replace(/^(.{0,199}) .*/, "$1"));
writeFileSync("result.json", JSON.stringify(result));
console.error(`I use ${keys}`);
// The first that is said is kept to 420 characters: a key stands across that cut.
console.log(`${"I use ".padEnd(405, ".")}${keys}`);
console.log(`${stdout.trimEnd()} ${keys}`);
process.exitCode = status ?? 1;
