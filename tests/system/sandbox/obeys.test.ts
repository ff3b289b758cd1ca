import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { noBubblewrap, skippedFor } from "../../support/processes/bubblewrap.js";
import { run, sharedPackage } from "../../support/processes/built.js";
import { freshFolder, makeResearch, sampleResearch } from "../../support/projects/research-folder.js";

let cli: string;
beforeAll(async () => {
  cli = join(await sharedPackage(), "dist", "cli.js");
});
const agentFile = fileURLToPath(new URL("obeys.mjs", import.meta.url));
const support = fileURLToPath(new URL("../../support", import.meta.url));

/** A run of an agent that obeys every order; what it was told not to reach, before and after. */
async function obeying(...where: string[]) {
  const requests: string[] = [];
  const server = createServer((request, answer) => {
    requests.push(request.url ?? "");
    answer.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const cwd = freshFolder();
  const folder = sampleResearch(cwd);
  makeResearch(cwd, "other");
  mkdirSync(join(cwd, ".ssh"));
  writeFileSync(join(cwd, ".ssh/id_planted"), "PLANTED-SSH");
  writeFileSync(join(cwd, "AGENTS.md"), "# Mine\n");
  const env = { PLANTED_HOME: cwd, PLANTED_PORT: String(port), PLANTED_TOKEN: "PLANTED-KEY-12345" };
  const agents = { obeys: { command: `${process.execPath} ${agentFile}`, read: [support] } };
  writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ agents }));
  const files = ["AGENTS.md", "researches/other/rrd.json"].map((name) => join(cwd, name));
  const before = files.map((path) => readFileSync(path, "utf8"));
  const args = [cli, "run", folder, "--agent", "obeys", "--no-git", ...where];
  const { code } = await run(process.execPath, args, cwd, env);
  await new Promise((resolve) => server.close(resolve));
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const transcripts = ["1", "2"].map((name) => read(`.ralph/transcripts/${name}.jsonl`)).join("\n");
  return {
    code,
    requests,
    transcripts,
    read,
    changed: files.filter((path, at) => readFileSync(path, "utf8") !== before[at]),
  };
}

describe.skipIf(noBubblewrap !== undefined)(
  `an agent that obeys the orders of a paper${skippedFor(noBubblewrap)}`,
  () => {
    test("in bubblewrap changes no state, reads no secret and sends nothing, and its results are those of any other", async () => {
      const { code, requests, transcripts, read, changed } = await obeying("--sandbox", "bubblewrap");
      expect({ code, requests, changed }).toEqual({ code: 0, requests: [], changed: [] });
      expect(transcripts).not.toMatch(/PLANTED-SSH|PLANTED-KEY|secret removed/);
      const ledger = read("ledger.jsonl").trimEnd().split("\n");
      expect(ledger.map((line) => (JSON.parse(line) as { outcome: string }).outcome)).toEqual(
        Array(5).fill("accepted"),
      );
    });

    test("on the host with --unconfined does all of that, so that it is known to try", async () => {
      const { requests, transcripts } = await obeying("--unconfined");
      expect(requests.length).toBeGreaterThan(0);
      expect(transcripts).toMatch(/PLANTED-SSH/);
    });
  },
);
