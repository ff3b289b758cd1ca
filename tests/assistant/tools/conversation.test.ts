import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { main } from "../../../src/assistant/main.js";
import { configKeys } from "../../../src/compose/config.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { type Answer, type FakeLlm, type ModelRequest, startFakeLlm } from "../../fixtures/fake-llm/server.js";
import { bench } from "./setup.js";

const here = bench();
let server: FakeLlm | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** Runs `ralph` in the workspace against a scripted model. */
async function ralph(args: readonly string[], answer: (request: ModelRequest) => Answer) {
  server = await startFakeLlm(answer, { countsAll: true });
  const home = join(here.folder, "home");
  mkdirSync(join(home, ".local/ralph"), { recursive: true });
  const config = { api_url: `${server.url}/v1/chat/completions`, model: "local", context_window: 32_000 };
  writeFileSync(join(home, ".local/ralph/config.json"), JSON.stringify(config), { mode: 0o600 });
  const io = fakeIo({ cwd: here.root, env: { HOME: home }, stdin: Readable.from([]) });
  const code = await main(args, io, { version: "0.0.0", keys: configKeys }, {});
  return { code, out: io.out(), err: io.err(), requests: server.requests };
}

/** Calls a tool first, then says what came of it. */
const calling =
  (name: string, input: object) =>
  ({ results }: ModelRequest): Answer =>
    results.length === 0 ? { tools: [{ name, input }] } : { text: results.join("") };

describe("a message", () => {
  it("is answered with what a tool found", async () => {
    writeFileSync(join(here.root, "notes.md"), "staging is hermes\n");
    const { code, out, requests } = await ralph(["where?"], calling("file_read", { file_path: "notes.md" }));
    expect([code, requests.length]).toEqual([0, 2]);
    expect(JSON.parse(out)).toMatchObject({ success: true, content: "staging is hermes\n" });
  });

  it("that has a tool called that is not there, is told which there are", async () => {
    const { code, out, requests } = await ralph(["x"], calling("teleport", {}));
    expect([code, requests.length]).toEqual([0, 2]);
    expect(JSON.parse(out)).toMatchObject({ success: false, code: "TOOL_ERROR_NOT_FOUND" });
  });
});

describe("ralph tools", () => {
  it("lists each with what it does, or as JSON with its schema", async () => {
    expect((await ralph(["tools"], () => "hang")).out).toMatch(/^file_read +Read .* \(reads\)$/m);
    const all = JSON.parse((await ralph(["tools", "--json"], () => "hang")).out) as Record<string, unknown>[];
    expect(all).toContainEqual(
      expect.objectContaining({
        name: "file_read",
        does: ["reads"],
        parameters: expect.objectContaining({ type: "object", required: ["file_path"] }),
      }),
    );
  });
});
