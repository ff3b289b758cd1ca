import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { skippedFor } from "../../support/processes/bubblewrap.js";
import { type Ended, run, sharedPackage } from "../../support/processes/built.js";
import { freshFolder } from "../../support/projects/research-folder.js";
import { dockerEngine } from "./docker-engine.js";

const found = await dockerEngine();
const missing = "problem" in found ? found.problem : undefined;
const { host, image } = "problem" in found ? { host: "", image: "" } : found;
afterAll(async () => {
  if (!("problem" in found)) await found.stop();
});

let cli: string;
let folder: string;
beforeAll(async () => {
  cli = join(await sharedPackage(), "dist", "cli.js");
});
beforeEach(() => {
  folder = freshFolder();
});

interface Given {
  readonly agent: string;
  readonly criteria: readonly object[];
  readonly image?: string;
  readonly iterations?: number;
}

/** Works on a task in Docker with a shell script as its agent. */
async function work({ agent, criteria, image: other = image, iterations = 2 }: Given): Promise<Ended> {
  const task = { task: "Make it so", acceptance_criteria: criteria, max_iterations: iterations };
  writeFileSync(join(folder, "ralph.json"), JSON.stringify(task));
  writeFileSync(join(folder, "agent.sh"), agent);
  writeFileSync(join(folder, "ralph.config.json"), JSON.stringify({ sandbox_image: other }));
  const args = [cli, "task", "--sandbox", "docker", "--agent", "cmd:sh agent.sh", "--json"];
  return await run(process.execPath, args, folder, { DOCKER_HOST: host, HOME: `${folder}-home` });
}

const containers = (): string =>
  execFileSync("docker", ["-H", host, "ps", "-a", "-q", "--filter", "label=dev.research-ralph.owner"], {
    encoding: "utf8",
  });

describe.skipIf(missing !== undefined)(`a task in Docker${skippedFor(missing)}`, () => {
  test("is completed there, and no container is left", async () => {
    const { code, out, err } = await work({
      agent: "cat > /dev/null; echo yes > made.txt; ls /root > root.txt 2>&1; id -u; echo done",
      criteria: [
        { type: "contains_text", path: "made.txt", text: "yes" },
        { type: "command_succeeds", command: "test -e /.dockerenv || grep -q docker /proc/self/mountinfo" },
      ],
    });
    expect(code, `${out}${err}`).toBe(0);
    expect(out.trimEnd().split("\n").at(-1)).toContain('"status":"success"');
    expect(readFileSync(join(folder, "made.txt"), "utf8")).toBe("yes\n");
    expect(containers()).toBe("");
  });

  test("has its tests run there, on the project read-only at /workspace", async () => {
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ type: "module", scripts: { test: "node --test sum.test.js" } }),
    );
    writeFileSync(
      join(folder, "sum.test.js"),
      `import test from "node:test"; import assert from "node:assert"; import { writeFileSync } from "node:fs"; import { sum } from "./sum.js";
      test("adds", () => assert.equal(sum(1, 2), 3));
      test("is held", () => { assert.equal(process.cwd(), "/workspace"); assert.throws(() => writeFileSync("made.txt", ""), /EROFS/); });`,
    );
    const { code, out, err } = await work({
      agent: "cat > /dev/null; echo 'export const sum = (a, b) => a + b;' > sum.js; echo done",
      criteria: [{ type: "tests_pass" }],
    });
    expect(code, `${out}${err}`).toBe(0);
    expect(containers()).toBe("");
  });

  test("tells what to do about tests that write into the project", async () => {
    const { code, out, err } = await work({
      agent: "true",
      criteria: [{ type: "tests_pass", command: "touch made.txt" }],
      iterations: 1,
    });
    expect(code, `${out}${err}`).toBe(3);
    expect(out).toMatch(/see the project read-only at \/workspace here; let them write to \$TMPDIR.*command_succeeds/);
    expect(existsSync(join(folder, "made.txt"))).toBe(false);
  });

  test("names an image that is missing", async () => {
    const { code, out, err } = await work({
      agent: "echo never > made.txt",
      criteria: [{ type: "file_exists", path: "made.txt" }],
      image: "not-there:1",
    });
    expect(code).not.toBe(0);
    expect(`${out}${err}`).toContain("docker pull not-there:1");
    expect(existsSync(join(folder, "made.txt"))).toBe(false);
  });

  test("tells that an agent used up the memory, and goes on", async () => {
    const hog = "const kept = []; for (;;) kept.push(Buffer.alloc(5e7, 1))";
    const { code, out, err } = await work({
      agent: `cat > /dev/null; [ -e tried ] && { echo x > made.txt; echo done; exit; }; touch tried; node -e '${hog}'`,
      criteria: [{ type: "file_exists", path: "made.txt" }],
    });
    expect(`${out}${err}`).toContain("more than 2 GB of memory");
    expect(code, `${out}${err}`).toBe(0);
    expect(containers()).toBe("");
  });
});
