import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { isFree, missingModelText, placeOf, settingsOf } from "../../src/assistant/settings.js";
import { configKeys } from "../../src/compose/config.js";
import { freshFolder } from "../support/projects/research-folder.js";

const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

/** A server of this machine that offers these models; its address without a path. */
async function serving(...models: string[]): Promise<string> {
  const server = createServer(({ url }, answer) => {
    answer.statusCode = url === "/v1/models" ? 200 : 404;
    answer.end(JSON.stringify({ data: models.map((id) => ({ id })) }));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const settingsAt = async (apiUrl: string, more: object = {}) => {
  const cwd = freshFolder();
  return await settingsOf({ keys: configKeys, cwd, env: { HOME: cwd }, apiUrl, canAsk: false, ...more } as never);
};

test.each(["", "/v1", "/v1/chat/completions"])("the only model of a server at …%s is asked", async (path) => {
  const { model, url } = await settingsAt(`${await serving("own-model")}${path}`);
  expect(model).toBe("own-model");
  expect(url.pathname).toBe(path === "" ? "/v1/chat/completions" : path);
});

test("of several models none is guessed: all are named, and where to choose one", async () => {
  const address = await serving("one", "two");
  await expect(settingsAt(address)).rejects.toThrow(/offers 2 models.*one, two.*"model": "one" in .*config\.json/);
  expect((await settingsAt(address, { model: "two" })).model).toBe("two");
});

test("a model that a local server does not list is named with those that it has, and a tag may be left out", async () => {
  const address = await serving("qwen3:8b", "mistral:latest");
  const missing = async (model: string) => await missingModelText(await settingsAt(address, { model }), fetch);
  expect(await missing("llama3")).toMatch(/ has no model llama3; it has qwen3:8b, mistral:latest\./);
  expect(await Promise.all([missing("qwen3:8b"), missing("mistral")])).toEqual([undefined, undefined]);
  const { host } = new URL(address);
  expect(placeOf(await settingsAt(address, { model: "mistral" }))).toBe(`mistral at ${host} (this machine)`);
});

test.each([
  ["http://127.0.0.1:11434", {}, true],
  ["http://127.0.0.1:11434", { OPENAI_API_KEY: "key-of-a-test" }, true],
  ["http://127.0.0.1:8080", {}, true],
  // It may be a gateway to a provider.
  ["http://127.0.0.1:4000", { OPENAI_API_KEY: "key-of-a-test" }, false],
  ["http://[::1]:8080", {}, true],
  ["http://192.168.1.7:1234", {}, true],
  ["https://models.example.org", {}, false],
])("a model at %s with the environment %o: free is %s", async (apiUrl, env, free) => {
  const cwd = freshFolder();
  const settings = await settingsAt(apiUrl, { model: "own-model", env: { HOME: cwd, ...env } });
  expect(isFree(settings)).toBe(free);
});
