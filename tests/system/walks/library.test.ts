import { writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { problemsOf } from "../../../src/engine/storage/schema-check.js";
import { run, sharedPackage } from "../../support/processes/built.js";
import { unitAgent } from "../../support/processes/command-agents.js";
import { freshFolder, sampleResearch } from "../../support/projects/research-folder.js";

/** Runs a module that may import the built package by its name. */
const module = async (code: string, env: Record<string, string>) =>
  run(process.execPath, ["--input-type=module", "-e", code], await sharedPackage(), env);

test("a program runs a project by import, is told its events and given the verdict, and nothing is printed", async () => {
  const cwd = freshFolder();
  const folder = sampleResearch(cwd);
  const settings = { agent: unitAgent, unconfined: true, git: false };
  const code = `
    import { writeFileSync } from "node:fs";
    import { run } from "research-ralph";
    const events = [];
    const verdict = await run({ folder: process.env.FOLDER, cwd: process.env.CWD, settings: ${JSON.stringify(settings)}, onEvent: (event) => events.push(event) });
    writeFileSync(process.env.CWD + "/told.json", JSON.stringify({ verdict, events }));`;
  expect(await module(code, { FOLDER: folder, CWD: cwd, HOME: cwd })).toEqual({ code: 0, out: "", err: "" });
  const { default: told } = (await import(join(cwd, "told.json"), { with: { type: "json" } })) as {
    default: { verdict: object; events: { type: string }[] };
  };
  expect(told.verdict).toMatchObject({ verdict: "complete" });
  expect(told.events.flatMap((event) => problemsOf("event", event))).toEqual([]);
  expect(told.events.at(0)?.type).toBe("run-started");
  expect(told.events.at(-1)).toMatchObject({ type: "run-ended", verdict: told.verdict });
});

test("a run that can't begin rejects, and one that is aborted is interrupted", async () => {
  const cwd = freshFolder();
  const folder = sampleResearch(cwd);
  const settings = { agent: unitAgent, unconfined: true, git: false };
  const code = `
    import { run } from "research-ralph";
    const options = { cwd: process.env.CWD, settings: ${JSON.stringify(settings)} };
    const no = await run({ ...options, folder: "nowhere" }).catch((error) => error.message);
    const { verdict } = await run({ ...options, folder: process.env.FOLDER, signal: AbortSignal.abort() });
    console.log(JSON.stringify({ no, verdict }));`;
  const { code: exitCode, out } = await module(code, { FOLDER: folder, CWD: cwd, HOME: cwd });
  expect(exitCode).toBe(0);
  expect(JSON.parse(out)).toEqual({ no: expect.stringContaining("nowhere"), verdict: "interrupted" });
});

test("nothing but the events, `run` and the schemas can be imported", async () => {
  const code = `
    const tried = ["research-ralph/dist/cli.js", "research-ralph/schemas/validators/rrd.cjs", "research-ralph/schemas/rrd.schema.json", "research-ralph"];
    const answers = await Promise.all(tried.map((name) => import(name, name.endsWith(".json") ? { with: { type: "json" } } : {}).then((found) => Object.keys(found), (error) => error.code)));
    console.log(JSON.stringify(answers));`;
  const { out } = await module(code, {});
  expect(JSON.parse(out)).toEqual([
    "ERR_PACKAGE_PATH_NOT_EXPORTED",
    "ERR_PACKAGE_PATH_NOT_EXPORTED",
    ["default"],
    ["run"],
  ]);
});

test("its types fit", async () => {
  const file = join(freshFolder(), "consumer.ts");
  writeFileSync(
    file,
    `import { type LoopEvent, run, type Verdict } from "research-ralph";
     const spent = (event: LoopEvent): number => (event.type === "iteration-ended" ? event.usage.output : 0);
     export const verdict: Promise<Verdict> = run({ folder: "x", settings: { jobs: 2 }, onEvent: (event) => void spent(event) });
     // @ts-expect-error -- a setting that there is not
     void run({ folder: "x", settings: { jbos: 2 } });`,
  );
  const plugin = join(freshFolder(), "plugin.ts");
  writeFileSync(
    plugin,
    `import type { Plugin } from "research-ralph/plugin";
     export const whole: Plugin = {
       name: "x",
       version: "1",
       hooks: {
         onBeforeGen: ({ title, brief }) => \`\${title} \${brief.length}\`,
         onAfterGen: async ({ files = [] }, { config }) => ({
           files: files.map(({ path, text }) => ({ path, text: text + String(config["x"]) })),
         }),
         onTestFail: ({ failing = 0 }) => failing + 1,
         onBeforeSuccess: () => false,
         onSuccess: ({ verdict }) => fetch("http://127.0.0.1:1", { body: verdict.reason }),
         onReading: async ({ paper }) => void paper.title,
         onReport: ({ path }) => path,
       },
       sources: [{
         id: "a",
         endpoint: "https://a.example",
         search: ({ terms, next = 0 }) => ({ path: \`/\${terms}/\${next}\` }),
         read: ({ text }) => ({ records: [{ title: text }], total: 1 }),
       }],
     };
     // @ts-expect-error -- a hook that there is not
     export const wrong: Plugin = { name: "x", version: "1", hooks: { onEverything() {} } };
     // @ts-expect-error -- a number is not a text for a brief
     export const other: Plugin = { name: "x", version: "1", hooks: { onBeforeGen: () => 3 } };`,
  );
  const examples = ["format", "webhook"].map((name) => packageFile("docs", "plugins", `${name}.mjs`));
  const program = ts.createProgram([file, plugin, ...examples], {
    allowJs: true,
    checkJs: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ["node"],
    typeRoots: [packageFile("node_modules/@types")],
    paths: {
      "research-ralph": [join(await sharedPackage(), "dist/types/index.d.ts")],
      "research-ralph/plugin": [join(await sharedPackage(), "dist/types/compose/extensions/plugins/plugin.d.ts")],
    },
  });
  const said = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "));
  expect(said).toEqual([]);
});
