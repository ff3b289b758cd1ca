import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { noBubblewrap, skippedFor } from "../../support/processes/bubblewrap.js";
import { templateRepository } from "../../support/projects/git-template.js";
import {
  cli,
  eachInTaskFolder,
  exists,
  here,
  json,
  path,
  read,
  state,
  task,
  write,
} from "../../support/projects/task-folder.js";

eachInTaskFolder();

describe.skipIf(noBubblewrap !== undefined)(`a task in a sandbox${skippedFor(noBubblewrap)}`, () => {
  it("lets no command of a dry run in a sandbox change them", async () => {
    await templateRepository(here());
    const command = "rm -rf ralph.json .git; git config core.fsmonitor ./evil; echo > .git/hooks/post-checkout; ls";
    const criterion = { type: "command_succeeds", command };
    write({ task: "x", acceptance_criteria: [criterion] });
    expect(await task("--dry-run", "--sandbox", "bubblewrap")).toMatchObject({ code: 0 });
    expect(JSON.parse(read("ralph.json")).acceptance_criteria).toEqual([criterion]);
    expect(existsSync(path(".git/hooks/post-checkout"))).toBe(false);
    expect(read(".git/config")).not.toContain("fsmonitor");
  });

  it("a command in a sandbox may change the files of the folder that it names", async () => {
    writeFileSync(path("two.txt"), "5");
    write({
      task: "x",
      acceptance_criteria: [{ type: "contains_text", path: "two.txt", text: "2" }],
      max_iterations: 1,
    });
    const { last } = await json("--sandbox", "bubblewrap", "--agent", "cmd:echo 2 > two.txt; echo done");
    expect(last).toMatchObject({ status: "success", iterations: 1 });
  });

  it("a package of several finds its tools and sisters in a sandbox, and can't change them", async () => {
    await templateRepository(here());
    const own = path("packages/a");
    for (const name of ["packages/a", "packages/b", "node_modules/.bin"]) mkdirSync(path(name), { recursive: true });
    for (const name of [".", "packages/a", "packages/b"]) writeFileSync(path(`${name}/package.json`), "{}");
    writeFileSync(path("node_modules/.bin/tool"), "#!/bin/sh\ntest -e made.txt -a -e ../b/package.json\n", {
      mode: 0o755,
    });
    const criterion = { type: "command_succeeds", command: "../../node_modules/.bin/tool" };
    writeFileSync(join(own, "ralph.json"), JSON.stringify({ task: "x", acceptance_criteria: [criterion] }));
    const script = "cp ../b/package.json made.txt; echo > ../b/evil; echo > ../../evil; echo done";
    const { code, out } = await cli(["task", "--json", "--sandbox", "bubblewrap", "--agent", `cmd:${script}`], own, {
      HOME: path("../nobody"),
    });
    expect(code, out).toBe(0);
    expect([existsSync(path("packages/b/evil")), existsSync(path("evil"))]).toEqual([false, false]);
  });

  it("a server that runs already is asked from outside of a sandbox", async () => {
    const server = createServer((_, response) => response.end("ok"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    write({ task: "x", acceptance_criteria: [{ type: "http_ok", url }] });
    expect(await task("--dry-run", "--sandbox", "bubblewrap", "--quiet")).toMatchObject({ code: 0 });
    // But a server that is started in the sandbox is alone there: what it asks of this machine is not answered.
    const start = `node -e 'fetch("${url}").catch(() => process.exit(4))'`;
    write({ task: "x", acceptance_criteria: [{ type: "http_ok", url, start }] });
    const { code, out } = await task("--dry-run", "--sandbox", "bubblewrap");
    expect([code, out]).toEqual([1, expect.stringContaining("its server ended with exit code 4")]);
    server.close();
  });

  it("are seen in a sandbox outside of the folder too, but not by a link that an agent has made", async () => {
    const spec = `${here()}-spec.md`;
    const secret = `${here()}-secret.md`;
    writeFileSync(spec, "said");
    writeFileSync(secret, "secret");
    const context = [`../${spec.split("/").at(-1)}`, "link.md"];
    write({ task: "x", acceptance_criteria: [exists("never")], context, max_iterations: 2 });
    // What a command line names is shown to it anyway.
    const named = `d=$(dirname "$PWD"); spec=$d/$(basename "$PWD")-spec.md`;
    const script = `${named}; cat $spec > seen.txt; echo evil >> $spec; cat link.md > read.txt; ln -sf $d/$(basename "$PWD")-secret.md link.md; echo done`;
    const { lines } = await json("--sandbox", "bubblewrap", "--agent", `cmd:${script}`);
    expect([read("seen.txt"), readFileSync(spec, "utf8"), read("read.txt")]).toEqual(["said", "said", ""]);
    expect(lines.flatMap(({ message = "" }) => (message.includes('"context"') ? [message] : []))).toEqual([
      expect.stringContaining('link.md, which "context" names, can\'t be read here'),
    ]);
    for (const each of [spec, secret]) rmSync(each);
  });

  it("whose ralph.json a person breaks while an agent works ends with the place and the way back, and loses nothing", async () => {
    write({ task: "Make both", acceptance_criteria: [exists("1.txt"), exists("2.txt")] });
    const good = read("ralph.json");
    /** Waits in its first iteration until the person has saved the file. */
    const script =
      "touch begun; [ -e 1.txt ] && touch 2.txt; touch 1.txt; until [ -e 2.txt ] || [ -e go ]; do sleep 0.02; done";
    const sandboxed = ["--sandbox", "bubblewrap", "--agent", `cmd:cat >/dev/null; ${script}; echo done`];
    const running = json(...sandboxed);
    await expect.poll(() => existsSync(path("begun")), { interval: 10 }).toBe(true);
    writeFileSync(path("ralph.json"), '{"task": 1}');
    writeFileSync(path("go"), "");
    const { code, last } = await running;
    const copy = path(".ralph/ralph.last-good.json");
    expect([code, last.verdict, last.iterations]).toEqual([1, "failed", 1]);
    expect(last.reason).toMatch(/ralph\.json has 2 errors: .*acceptance_criteria.* missing.*; correct it, or copy /);
    expect(last.reason.replaceAll(/\s+/g, " ")).toContain(`copy its last good version, ${copy}, there.`);
    expect(state().attempts.map(({ outcome }) => outcome)).toEqual(["accepted"]);
    expect(readFileSync(copy, "utf8")).toBe(good);
    // The next start says the same, and goes on once the file is mended.
    expect(await task(...sandboxed)).toMatchObject({ code: 2, err: expect.stringContaining(copy) });
    rmSync(path("ralph.json"));
    expect((await task(...sandboxed)).err).toContain("copy its last good version");
    copyFileSync(copy, path("ralph.json"));
    expect((await json(...sandboxed)).last).toMatchObject({ verdict: "complete", iterations: 2 });
  });
});
