import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fastGlob from "fast-glob";
import { expect, test } from "vitest";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { problemsOf, type SchemaName } from "../../../src/engine/storage/schema-check.js";
import { cli } from "../../support/processes/in-process.js";
import { agent, cli as inTask, eachInTaskFolder, here, path } from "../../support/projects/task-folder.js";
import { freshFolder } from "../../support/projects/research-folder.js";

eachInTaskFolder();

/** The schema that each JSON file of a folder names, by the file's name; what is hidden is the program's alone. */
function schemasIn(cwd: string): Record<string, string> {
  const found = fastGlob.sync("**/*.json", { cwd });
  return Object.fromEntries(
    found.map((file) => {
      const value = JSON.parse(readFileSync(join(cwd, file), "utf8")) as { $schema?: string };
      const [, name = ""] =
        /^https:\/\/research-ralph\.dev\/schemas\/([a-z-]+)\.schema\.json$/.exec(value.$schema ?? "") ?? [];
      const schema = packageFile("schemas", `${name}.schema.json`);
      expect(existsSync(schema), `${file} names ${value.$schema}`).toBe(true);
      expect((JSON.parse(readFileSync(schema, "utf8")) as { $id: string }).$id).toBe(value.$schema);
      expect(problemsOf(name as SchemaName, value), file).toEqual([]);
      return [file.split("/").at(-1) ?? "", name];
    }),
  );
}

test("every JSON file of a finished project names the schema that it fits", async () => {
  const cwd = freshFolder();
  expect((await cli(["demo"], cwd)).code).toBe(0);
  expect(schemasIn(cwd)).toEqual({ "rrd.json": "rrd", "report.json": "report", "product-ideas.json": "product-ideas" });
});

test("and so does every JSON file of a task", async () => {
  const made = agent(() => writeFileSync(path("hello.txt"), "Hello from Ralph"));
  expect(await inTask(["init", "--task"], here())).toMatchObject({ code: 0 });
  expect(await inTask(["task", ...made], here())).toMatchObject({ code: 0 });
  expect(schemasIn(here())).toEqual({ "ralph.json": "ralph", "ralph.state.json": "ralph-state" });
});

test("also of one that was saved from the command line", async () => {
  const made = agent(() => writeFileSync(path("a.txt"), ""));
  const given = ["task", "make a.txt", "--check", "test -e a.txt", "--save", ...made];
  expect(await inTask(given, here())).toMatchObject({ code: 0 });
  expect(schemasIn(here())).toEqual({ "ralph.json": "ralph", "ralph.state.json": "ralph-state" });
});

test("a file without the name of a schema, or with another, stays as it is", async () => {
  const cwd = freshFolder();
  await cli(["demo"], cwd);
  const [file = ""] = fastGlob.sync("**/rrd.json", { cwd, absolute: true });
  const { $schema: _, ...rrd } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  for (const mine of [{}, { $schema: "../own.json" }]) {
    const text = `${JSON.stringify({ ...mine, ...rrd }, null, 2)}\n`;
    writeFileSync(file, text);
    for (const command of ["status", "validate", "report"]) expect((await cli([command], cwd)).code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(text);
    expect((await cli(["steer", "sample", "prefer tables"], cwd)).code).toBe(0);
    const after = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    expect(after["$schema"]).toBe((mine as { $schema?: string }).$schema);
  }
});
