import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { run, sharedPackage } from "../../support/processes/built.js";
import { work } from "../../support/processes/unit-agent.mjs";
import { freshFolder } from "../../support/projects/research-folder.js";

const page = readFileSync(packageFile("docs/write-an-agent.md"), "utf8");

/** The program of this name, as the page shows it. */
const sample = (name: string): string =>
  page.split(`<!-- sample ${name} -->`)[1]?.match(/```\w+\n([\s\S]*?)```/)?.[1] ?? "";

let built: string;
/** A model of ours on this machine, which does every unit as it should. */
const model = createServer((request, response) => {
  void (async () => {
    const { messages } = JSON.parse(await text(request)) as { messages: { content: string }[] };
    const folder = freshFolder();
    for await (const _ of work(messages[0]?.content ?? "", folder, {}));
    const content = readFileSync(join(folder, "result.json"), "utf8");
    response.end(JSON.stringify({ choices: [{ message: { content } }] }));
  })();
});
beforeAll(async () => {
  built = await sharedPackage();
  await new Promise<void>((resolve) => void model.listen(0, "127.0.0.1", resolve));
});
afterAll(() => model.close());

const project = (cwd: string, agent: string, env: Record<string, string>) =>
  run(
    process.execPath,
    [
      ...[join(built, "dist/cli.js"), "how well does sim2real transfer serve dexterous manipulation?"],
      ...["--source", "samples", "--quick", "--yes", "--agent", agent, "--unconfined", "--sandbox", "host", "--no-git"],
    ],
    cwd,
    env,
  );

test("the agent in Python finishes a project with a model behind an address", async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, "agent.py"), sample("agent.py"));
  const { port } = model.address() as { port: number };
  const ended = await project(cwd, "cmd:python3 agent.py", { MODEL_URL: `http://127.0.0.1:${port}/v1` });
  expect(ended).toMatchObject({ code: 0, out: expect.stringContaining("<promise>COMPLETE</promise>") });
});

test("the agent in bash gives reports to the large model and readings to the small one", async () => {
  const cwd = freshFolder();
  const bin = join(cwd, "bin");
  mkdirSync(bin);
  writeFileSync(join(cwd, "agent.sh"), sample("agent.sh"));
  // In the place of the model's program: it notes the model, does the unit, and prints the result.
  const unitAgent = packageFile("tests/support/processes/unit-agent.mjs");
  const lines = [
    `echo "$2" >> ${cwd}/models`,
    `${process.execPath} ${unitAgent} > /dev/null`,
    "cat result.json",
    "rm result.json",
  ];
  writeFileSync(join(bin, "ollama"), `#!/bin/sh\n${lines.join("\n")}\n`);
  for (const path of [join(cwd, "agent.sh"), join(bin, "ollama")]) chmodSync(path, 0o755);
  const ended = await project(cwd, "cmd:./agent.sh", { PATH: `${bin}:${process.env["PATH"]}`, TMPDIR: cwd });
  expect(ended).toMatchObject({ code: 0, out: expect.stringContaining("<promise>COMPLETE</promise>") });
  const models = readFileSync(join(cwd, "models"), "utf8").trim().split("\n");
  expect(models.filter((name) => name.startsWith("llama"))).toHaveLength(1);
  expect(models.filter((name) => name.startsWith("qwen")).length).toBeGreaterThan(5);
});
