import { describe, expect, it, test } from "vitest";
import { failureOf } from "../../../src/assistant/model/failure.js";
import { NoAnswer, ConnectionRefused } from "../../../src/assistant/model/fetch.js";
import { providerOf } from "../../../src/assistant/providers.js";
import { defaultHistory } from "../../../src/assistant/settings.js";

const where = { ...providerOf("http://127.0.0.1:1/v1/chat/completions", "test"), model: "m" };
const settings = { ...where, urlSource: "config.json", window: 8192, history: defaultHistory, isWindowKnown: false };

describe("a service that does not answer", () => {
  it("is asked once where its answer is nested too deeply to be read", () => {
    const error = new RangeError("Maximum call stack size exceeded");
    expect(failureOf(error, settings, 0)).toMatchObject({
      kind: "no-answer",
      message: expect.stringContaining("nested"),
    });
  });

  it("is asked again, unless it says more than any answer has", () => {
    expect(failureOf(new NoAnswer("It is away."), settings, 0).kind).toBe("network");
    const wrapped = new Error("failed", { cause: new NoAnswer("It said too much.", false) });
    expect(failureOf(wrapped, settings, 0)).toEqual({ kind: "no-answer", message: "It said too much." });
  });
});

describe("a refused connection", () => {
  const refused = new Error("failed", { cause: new ConnectionRefused("It does not accept connections.") });
  const failureAt = (address: string, urlSource = "config.json") =>
    failureOf(refused, { ...settings, ...providerOf(address, "test"), urlSource }, 0);

  it.each([
    ["http://127.0.0.1:11434", "config.json", "start Ollama with `ollama serve`, or correct api_url in config.json."],
    ["http://127.0.0.1:1234", "OLLAMA_HOST", "start Ollama with `ollama serve`, or correct OLLAMA_HOST."],
    ["http://192.168.1.7:8080", "--api-url", "start the model server there, or correct --api-url."],
  ])("of a local server (%s) is for a person to mend", (address, from, advice) => {
    expect(failureAt(address, from)).toEqual({
      kind: "auth",
      message: `No model server runs at ${address} (the connection was refused); ${advice}`,
    });
  });

  it("of another server may pass", () => {
    expect(failureAt("https://models.example.org/v1").kind).toBe("network");
  });
});

test("a service that asks for a key where none was sent has refused none", () => {
  const error = Object.assign(new Error("Missing bearer token"), { name: "AI_APICallError", statusCode: 401 });
  expect(failureOf(error, settings, 0).message).toContain("needs a key, and none is set");
  expect(failureOf(error, { ...settings, key: "k", keySource: "OPENAI_API_KEY" }, 0).message).toContain(
    "refused the key in OPENAI_API_KEY",
  );
});
