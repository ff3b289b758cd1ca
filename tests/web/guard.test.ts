import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { PassThrough } from "node:stream";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { webCommand } from "../../src/commands/inspect/web.js";
import { cli, ioIn } from "../support/processes/in-process.js";
import { freshFolder, makeResearch, paper } from "../support/projects/research-folder.js";
import { raw, served } from "./served.js";

const name = "hands-2026-01-14";
const project = (cwd: string) => makeResearch(cwd, name, { papers_pool: [paper("a", "presented")] });

test("the token goes into a cookie that no script reads, and out of the address", async () => {
  const cwd = freshFolder();
  project(cwd);
  const { newAddress, get } = await served(cwd);
  const entry = await fetch(newAddress(), { redirect: "manual" });
  expect(entry.status).toBe(303);
  expect(entry.headers.get("location")).toBe("/");
  expect(entry.headers.get("set-cookie")).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
  expect((await get("/")).status).toBe(200);
});

test("a token lets one browser in; that one may come with it again, another is told how to get a new one", async () => {
  const cwd = freshFolder();
  project(cwd);
  const { address, cookie, newAddress } = await served(cwd);
  const again = await fetch(address, { headers: { cookie }, redirect: "manual" });
  expect([again.status, again.headers.get("location")]).toEqual([303, "/"]);
  const other = await fetch(address, { redirect: "manual" });
  expect([other.status, other.headers.get("set-cookie")]).toEqual([403, null]);
  expect(await other.text()).toMatch(/^This address was already used.* press Enter .*\n$/);

  const [second, third] = [newAddress(), newAddress()];
  expect((await fetch(second, { redirect: "manual" })).status).toBe(403);
  // A preview asks for the headers alone, and takes nothing.
  expect((await fetch(third, { method: "HEAD", redirect: "manual" })).status).toBe(401);
  const away = await fetch(third.replace("/?", "//evil.example/?"), { redirect: "manual" });
  expect([away.status, away.headers.get("location")]).toEqual([303, "/evil.example/"]);
  expect(away.headers.get("set-cookie")?.split(";")[0]).toBe(cookie);
  for (const path of ["%5cevil.example/", "%09/evil.example/", "%5C%5Cevil.example/", "/%5cevil.example/", "%2f/x/"]) {
    const { status, headers } = await fetch(newAddress().replace("/?", `/${path}?`), { redirect: "manual" });
    expect([path, status]).toEqual([path, 303]);
    const to = new URL(headers.get("location") ?? "", "http://127.0.0.1/");
    expect(to.host).toBe("127.0.0.1");
  }
});

test("nobody without the token sees anything", async () => {
  const cwd = freshFolder();
  project(cwd);
  const { origin, address } = await served(cwd);
  for (const path of ["/", `/p/${name}/`, "/events", "/page.css", "/nothing", `/?t=${"x".repeat(32)}`, "/?t="])
    for (const cookie of ["", `research-ralph-${new URL(origin).port}=wrong`]) {
      const answer = await fetch(origin + path, { headers: { cookie }, redirect: "manual" });
      expect([path, answer.status]).toEqual([path, 401]);
      expect(await answer.text()).not.toContain("hands");
    }
  expect(await raw(address, "/", { host: new URL(address).host, cookie: "" }, "DELETE")).toBe(403);
});

test("a name that somebody points at this machine is not ours", async () => {
  const cwd = freshFolder();
  project(cwd);
  const { address, cookie } = await served(cwd);
  const { port } = new URL(address);
  for (const host of [
    "evil.example",
    `evil.example:${port}`,
    "127.0.0.1",
    `127.0.0.1.evil.example:${port}`,
    `[::1]:${port}`,
  ])
    expect([host, await raw(address, "/", { host, cookie })]).toEqual([host, 421]);
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`])
    expect(await raw(address, "/", { host, cookie })).toBe(200);
});

test("only our own pages change something", async () => {
  const cwd = freshFolder();
  const folder = project(cwd);
  const { post, address, cookie } = await served(cwd);
  const host = new URL(address).host;
  for (const origin of ["http://evil.example", "null", `https://${host}`, `http://${host}.evil.example`])
    expect([origin, (await post(`/p/${name}/pause`, {}, { origin })).status]).toEqual([origin, 403]);
  expect(await raw(address, `/p/${name}/pause`, { host, cookie }, "POST")).toBe(403);
  // The cookie of another origin does not come along; the origin alone is not enough.
  expect(await raw(address, `/p/${name}/pause`, { host, origin: `http://${host}` }, "POST")).toBe(401);
  expect(existsSync(join(folder, "PAUSE"))).toBe(false);
  expect((await post(`/p/${name}/pause`)).status).toBe(303);
  expect(existsSync(join(folder, "PAUSE"))).toBe(true);
});

test("every answer says that it is not kept, not guessed, not framed and runs nothing but ours", async () => {
  const cwd = freshFolder();
  project(cwd);
  const { get, origin } = await served(cwd);
  const answers = [
    await get("/"),
    await get(`/p/${name}/`),
    await get("/live.js"),
    await get("/no"),
    await fetch(origin),
  ];
  for (const { headers } of answers) {
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
    expect(headers.get("content-security-policy")).not.toMatch(/unsafe|https?:/);
  }
});

test("names lead to the projects of the list and to nothing else", async () => {
  const cwd = freshFolder();
  project(cwd);
  makeResearch(join(cwd, "elsewhere"), "other-2026-01-14");
  const { get } = await served(cwd);
  for (const path of [
    "..%2f..",

    "..%2felsewhere%2fresearches%2fother-2026-01-14",
    "other-2026-01-14",
    "%00",
    "rrd.json",
  ])
    for (const rest of ["", "events", "parts/now", "paper/a"])
      expect([path, rest, (await get(`/p/${path}/${rest}`)).status]).toEqual([path, rest, 404]);
  for (const id of ["..%2f..%2frrd.json", "%2e%2e%2fa", "b"])
    expect((await get(`/p/${name}/paper/${id}`)).status).toBe(404);
});

test("a port in use is one sentence and exit code 1", async () => {
  const cwd = freshFolder();
  project(cwd);
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => other.once("listening", done));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  expect(await cli(["web", "--port", String(port)], cwd)).toEqual({
    code: 1,
    out: "",
    err: `research-ralph: Port ${port} of 127.0.0.1 is in use; name another with --port, or leave it out.\n`,
  });
  expect((await cli(["web", "--port", "70000"], cwd)).code).toBe(2);
  expect((await cli(["web", "nothing"], cwd)).code).toBe(2);
});

test("Ctrl+C ends the command at once, with a browser that still listens", async () => {
  const cwd = freshFolder();
  project(cwd);
  const io = ioIn(cwd);
  const ended = webCommand({ port: 0, json: false }, io);
  while (!io.out().includes("\n")) await new Promise((done) => setTimeout(done, 10));
  const address = io.out().trim();
  const entry = await fetch(address, { redirect: "manual" });
  const cookie = entry.headers.get("set-cookie")?.split(";")[0] ?? "";
  const stream = await fetch(`${new URL(address).origin}/events`, { headers: { cookie } });
  expect(stream.status).toBe(200);
  io.signals.emit("SIGINT");
  expect(await ended).toBe(0);
  await expect(stream.text()).rejects.toThrow();
});

test("Enter prints an address for another browser, where a person can press it", async () => {
  const cwd = freshFolder();
  project(cwd);
  const io = { ...ioIn(cwd), canAsk: true };
  const ended = webCommand({ port: 0, json: false }, io);
  const lines = async (count: number) => {
    while (io.out().split("\n").length <= count) await new Promise((done) => setTimeout(done, 10));
    return io.out().trim().split("\n");
  };
  const [first = ""] = await lines(1);
  expect(io.err()).toContain("press Enter for the address of another browser");
  expect((await fetch(first, { redirect: "manual" })).status).toBe(303);
  (io.stdin as PassThrough).write("\n");
  const [, second = ""] = await lines(2);
  expect((await fetch(first, { redirect: "manual" })).status).toBe(403);
  expect((await fetch(second, { redirect: "manual" })).status).toBe(303);
  io.signals.emit("SIGINT");
  expect(await ended).toBe(0);
});
