import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { readAddress } from "../../src/fleet/address.js";
import { checkRedis } from "../../src/fleet/checks.js";
import { installAdvice, connectToRedis, explainRefusal, versionProblem } from "../../src/fleet/connect.js";
import { ExpectedError } from "../../src/engine/lib/errors.js";

let server: Server | undefined;
afterEach(async () => {
  if (server === undefined) return;
  server.close();
  await once(server, "close");
  server = undefined;
});

/** What answers INFO as a Redis server would, and all else with OK; its address. */
async function saying(info: string): Promise<string> {
  server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (asked) => {
      for (const [, name = ""] of asked.toString("latin1").matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g))
        socket.write(/^info$/i.test(name) ? `$${Buffer.byteLength(info)}\r\n${info}\r\n` : "+OK\r\n");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return `redis://127.0.0.1:${(server.address() as { port: number }).port}`;
}

test.each([
  ["6.2.0", false],
  ["7.0.15", false],
  ["8.2.1", false],
  ["6.0.16", true],
  ["5.0.14", true],
  ["unknown", true],
])("Redis %s is too old: %s", (version, isTooOld) => {
  expect(versionProblem(new Map([["redis_version", version]])) !== undefined).toBe(isTooOld);
});

test("a server that is too old is named with host and port, its version, and what is needed: exit code 1", async () => {
  const url = await saying("# Server\r\nredis_version:6.0.16\r\nmaxmemory_policy:noeviction\r\n");
  const refused = await connectToRedis(readAddress(url, false)).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ExpectedError);
  expect(refused).toMatchObject({
    exitCode: 1,
    message: `Redis at ${url} is version 6.0.16; 6.2 or newer is needed: update it.`,
  });
});

test.each([
  ["maxmemory_policy:noeviction\r\n", "keys are never evicted"],
  ["", "the server does not say whether it evicts keys; maxmemory-policy should be noeviction"],
])("doctor says of eviction what the server tells: '%s'", async (told, said) => {
  const url = await saying(`redis_version:7.2.4\r\n${told}`);
  const [first] = await checkRedis(readAddress(url, false));
  expect(first).toMatchObject({ ok: true, detail: `7.2.4 at ${url}, ${said}` });
});

test("what the server refuses is said with the line that allows it; what is no answer of it comes back", () => {
  const address = readAddress("redis://lab:secret@127.0.0.1:6379", false);
  const asked = { requester: "the queue agent-claude", keys: "~rr:agent-claude:*" };
  const refused = (message: string) =>
    explainRefusal(Object.assign(new Error(message), { name: "ReplyError" }), asked, address);
  for (const message of [
    "NOPERM No permissions to access a key",
    "ERR The user executing the script can't access at least one of the keys",
  ])
    expect(refused(message)).toMatchObject({
      exitCode: 5,
      message:
        "Redis at redis://127.0.0.1:6379 does not allow this user what the queue agent-claude needs; allow it there: ACL SETUSER lab ~rr:agent-claude:* +@all -@dangerous +info",
    });
  expect(refused("OOM command not allowed")).toMatchObject({ exitCode: 1 });
  const other = new TypeError("a defect");
  expect(explainRefusal(other, asked, address)).toBe(other);
});

test("a place without the libraries is told the command that brings them there: npx, local, global, a clone", () => {
  const place = mkdtempSync(join(tmpdir(), "places-"));
  const inside = (...path: string[]) => join(place, ...path, "node_modules", "research-ralph");
  const write = (folder: string, text: object) => {
    mkdirSync(join(place, folder), { recursive: true });
    writeFileSync(join(place, folder, "package.json"), JSON.stringify(text));
  };
  const both = "bullmq@6.7.0 ioredis@6.0.0";
  write("_npx/1f", { _npx: { packages: ["research-ralph@1.2.3"] } });
  write("project", {});

  expect(installAdvice(inside("_npx", "1f"))).toBe(
    "start it by `npx --package research-ralph@1.2.3 --package bullmq@6.7.0 --package ioredis@6.0.0 research-ralph` with the same arguments",
  );
  expect(installAdvice(inside("project"))).toBe(`run \`npm install ${both}\` in ${join(place, "project")}`);
  expect(installAdvice(inside("lib"))).toBe(`run \`npm install --global ${both}\``);
  expect(installAdvice(join(place, "clone"))).toBe(`run \`npm install\` in ${join(place, "clone")}`);
  rmSync(place, { recursive: true, force: true });
});
