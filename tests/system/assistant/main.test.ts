import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { main } from "../../../src/assistant/main.js";
import { configKeys } from "../../../src/compose/config.js";
import { type Answer, type FakeLlm, type ModelRequest, startFakeLlm } from "../../fixtures/fake-llm/server.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { outsideAlone } from "../../assistant/nothing-handed.js";

let folder: string;
let home: string;
let server: FakeLlm | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-"));
  home = join(folder, "home");
  mkdirSync(home);
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

interface Started {
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly config?: object;
  /** Written into the folder where it is started, as one that came with a clone. */
  readonly projectConfig?: object;
  readonly stdin?: string;
  readonly answer?: (request: ModelRequest) => Answer;
}

/**
 * Runs `ralph` in this process. Requests to any host reach the scripted server, with the address that was meant in a
 * header.
 */
async function ralph({ args = ["hello"], env = {}, config, projectConfig, stdin = "", answer }: Started) {
  server ??= await startFakeLlm(answer ?? (() => ({ text: "Hello there" })), { countsAll: true });
  const { url } = server;
  const cwd = join(folder, "here");
  mkdirSync(cwd, { recursive: true });
  mkdirSync(join(home, ".local/ralph"), { recursive: true });
  if (config !== undefined)
    writeFileSync(join(home, ".local/ralph/config.json"), JSON.stringify(config), { mode: 0o600 });
  if (projectConfig !== undefined) writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify(projectConfig));
  const asked: string[] = [];
  const embedded: { readonly model: string; readonly authorization: string | null }[] = [];
  const waits: number[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const meant = new URL(String(input));
    asked.push(meant.href);
    if (meant.pathname.endsWith("/embeddings")) {
      const { model, input } = JSON.parse(String(init?.body)) as { model: string; input: readonly string[] };
      embedded.push({ model, authorization: new Headers(init?.headers).get("authorization") });
      // Texts of one language lie near each other.
      return Response.json({ data: input.map((text) => ({ embedding: [1, text.length / 1000, 0.5] })) });
    }
    return await globalThis.fetch(`${url}${meant.pathname}${meant.search}`, init);
  };
  let now = Date.parse("2026-11-22T12:00:00Z");
  const clock = {
    now: () => now,
    async sleep(until: number) {
      waits.push(Math.round((until - now) / 1000));
      now = until;
    },
  };
  const io = fakeIo({ cwd, env: { HOME: home, ...env }, stdin: Readable.from([Buffer.from(stdin)]), clock });
  const code = await main(
    args,
    io,
    { version: "1.2.3", keys: configKeys, otherCommands: new Set(["status"]) },
    { ...outsideAlone, fetch },
  );
  return { code, out: io.out(), err: io.err(), asked, waits, requests: server.requests, embedded, cwd };
}

const chat = "https://api.openai.com/v1/chat/completions";
const messages = "https://api.anthropic.com/v1/messages";
const keyed = { OPENAI_API_KEY: "sk-0123456789abcdef" };

describe("the four configurations of the specification, as they stand there, and two more", () => {
  const cases = [
    {
      title: "OpenAI",
      config: { api_url: chat, model: "gpt-4o", openai_api_key: "sk-..." },
      api: "chat",
      at: chat,
      header: ["authorization", "Bearer sk-..."],
    },
    {
      title: "Anthropic",
      config: {
        api_url: "https://api.anthropic.com/v1/messages",
        model: "claude-3-5-sonnet-20241022",
        anthropic_api_key: "sk-ant-...",
      },
      api: "anthropic",
      at: "https://api.anthropic.com/v1/messages",
      header: ["x-api-key", "sk-ant-..."],
    },
    {
      title: "a local server",
      config: { api_url: "http://localhost:1234/v1/chat/completions", model: "local-model", context_window: 32000 },
      api: "chat",
      at: "http://localhost:1234/v1/chat/completions",
      header: ["authorization", undefined],
    },
    {
      title: "an embedding API of another maker",
      config: {
        api_url: "https://api.anthropic.com/v1/messages",
        model: "claude-3-5-sonnet-20241022",
        anthropic_api_key: "sk-ant-...",
        embedding_api_url: "https://api.openai.com/v1/embeddings",
        openai_api_key: "sk-...",
        embedding_model: "text-embedding-3-small",
      },
      api: "anthropic",
      at: "https://api.anthropic.com/v1/messages",
      header: ["x-api-key", "sk-ant-..."],
    },
    {
      title: "Google",
      config: {
        api_url: "https://generativelanguage.googleapis.com/v1beta",
        model: "gemini-2.5-flash",
        google_api_key: "g-123456",
      },
      api: "google",
      at: "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
      header: ["x-goog-api-key", "g-123456"],
    },
    {
      title: "Azure OpenAI",
      config: {
        api_url: "https://lab.openai.azure.com/openai/deployments/mini/chat/completions?api-version=2024-10-21",
        model: "gpt-4o-mini",
        openai_api_key: "azure-123456",
      },
      api: "chat",
      at: "https://lab.openai.azure.com/openai/deployments/mini/chat/completions?api-version=2024-10-21",
      header: ["api-key", "azure-123456"],
    },
  ] as const;

  it.each(cases)("$title: asks its address with its key and prints the answer", async ({ config, api, at, header }) => {
    const { code, out, err, asked, requests } = await ralph({ config });
    expect([code, out, err]).toEqual([0, "Hello there\n", ""]);
    expect(asked).toEqual([at]);
    const [request] = requests;
    expect(request?.api).toBe(api);
    expect(request?.user).toBe("hello");
    expect(request?.headers[header[0]]).toBe(header[1]);
  });

  it("vectors of memories are asked of their own API, with its maker's key", async () => {
    const { config } = cases[3];
    const saved = await ralph({ config, args: ["memory", "add", "the staging server is called hermes"] });
    expect([saved.code, saved.asked]).toEqual([0, [config.embedding_api_url]]);
    const { asked, requests, embedded } = await ralph({ config, args: ["which server is called hermes?"] });
    expect(new Set(asked)).toEqual(new Set([config.embedding_api_url, config.api_url]));
    expect(embedded).toContainEqual({ model: "text-embedding-3-small", authorization: "Bearer sk-..." });
    expect(JSON.stringify(requests[0]?.body["system"])).toContain("hermes");
  });

  it("lets an unknown Claude answer at length", async () => {
    const config = {
      api_url: "https://api.anthropic.com/v1/messages",
      model: "claude-nova-9",
      anthropic_api_key: "k-123456",
      context_window: 200_000,
    };
    const { requests } = await ralph({ config });
    expect(requests[0]?.body["max_tokens"]).toBe(32_000);
  });

  it.each([
    ["o3-mini", undefined, 500],
    ["gpt-4o", 500, undefined],
  ])("limits an answer of the Azure deployment %s by the name that it takes", async (model, old, newer) => {
    const api_url = `https://lab.openai.azure.com/openai/deployments/${model}/chat/completions?api-version=1`;
    const { requests } = await ralph({ config: { api_url, openai_api_key: "azure-123456", max_tokens: 500 } });
    const { max_tokens, max_completion_tokens } = requests[0]?.body ?? {};
    expect([max_tokens, max_completion_tokens]).toEqual([old, newer]);
  });

  it("takes max_tokens beside api_url for the length of an answer", async () => {
    const { requests } = await ralph({ config: { api_url: chat, openai_api_key: "sk-123456", max_tokens: 700 } });
    expect(requests[0]?.body["max_tokens"] ?? requests[0]?.body["max_completion_tokens"]).toBe(700);
  });
});

describe("whose key goes where", () => {
  it.each([
    "https://api.openai.com.evil.test/v1/chat/completions",
    "https://evil.test/api.openai.com/v1/chat/completions",
    "https://api.openai.com@evil.test/v1/chat/completions",
  ])("%s gets no key of the environment", async (api_url) => {
    const { code, requests } = await ralph({ config: { api_url, model: "x" }, env: keyed });
    expect(code).toBe(0);
    expect(JSON.stringify(requests[0]?.headers)).not.toContain(keyed.OPENAI_API_KEY);
  });

  it("the environment overrides the file", async () => {
    const { requests } = await ralph({ config: { api_url: chat, openai_api_key: "sk-of-the-file" }, env: keyed });
    expect(requests[0]?.headers["authorization"]).toBe(`Bearer ${keyed.OPENAI_API_KEY}`);
  });

  it("the maker whose key is there is asked where nothing is configured", async () => {
    const { asked } = await ralph({ env: { ANTHROPIC_API_KEY: "sk-ant-123456" } });
    expect(asked).toEqual([messages]);
  });

  it("of several keys one is taken, and the first line says which", async () => {
    const { asked, err } = await ralph({ env: { ...keyed, ANTHROPIC_API_KEY: "sk-ant-123456" } });
    expect([asked, err.split("\n").at(-2)]).toEqual([[chat], "ralph: OpenAI is used; to use Anthropic, set api_url."]);
  });

  it.each([
    [{}, { ANTHROPIC_BASE_URL: "https://gate.example:4000/", ANTHROPIC_AUTH_TOKEN: "gk-1" }, "/v1/messages", "gk-1"],
    [
      { api_url: messages },
      { ANTHROPIC_BASE_URL: "https://gate.example:4000", ANTHROPIC_API_KEY: "gk-2" },
      "/v1/messages",
      "gk-2",
    ],
    [
      { api_url: chat },
      { OPENAI_BASE_URL: "https://gate.example:4000/v1", OPENAI_API_KEY: "gk-3" },
      "/v1/chat/completions",
      "gk-3",
    ],
    [
      { openai_api_url: "https://gate.example:4000/v1/chat/completions", openai_api_key: "gk-4" },
      keyed,
      "/v1/chat/completions",
      "gk-4",
    ],
    [
      { api_url: chat, openai_api_url: "https://gate.example:4000/chat/completions", openai_api_key: "gk-5" },
      {},
      "/chat/completions",
      "gk-5",
    ],
    [
      { api_url: "https://gate.example:4000/bedrock/messages", anthropic_api_key: "gk-6" },
      keyed,
      "/bedrock/messages",
      "gk-6",
    ],
    [
      { api_url: "https://gate.example:4000/anthropic", protocol: "messages", anthropic_api_key: "gk-7" },
      {},
      "/anthropic/messages",
      "gk-7",
    ],
  ])("a gateway speaks its protocol and gets its own key: %j %j", async (config, env, path, key) => {
    const { asked, requests, err } = await ralph({
      config: { model: "m", ...config },
      env: env as Record<string, string>,
    });
    expect(asked, err).toEqual([`https://gate.example:4000${path}`]);
    expect(requests[0]?.headers["authorization"]).toBe(`Bearer ${key}`);
    expect(JSON.stringify(requests[0]?.headers)).not.toContain(keyed.OPENAI_API_KEY);
  });

  it("OLLAMA_HOST names a local server", async () => {
    const { code, asked } = await ralph({ args: ["-m", "qwen3", "hi"], env: { OLLAMA_HOST: "0.0.0.0" } });
    expect([code, asked]).toEqual([0, ["http://127.0.0.1:11434/v1/chat/completions"]]);
  });

  it("without any key one sentence names the variable and the file, and nothing is asked", async () => {
    const { code, err, asked } = await ralph({ config: { api_url: chat } });
    expect([code, asked]).toEqual([1, []]);
    expect(err).toMatch(
      /^ralph: There is no key for OpenAI: set OPENAI_API_KEY, or openai_api_key in \S+config\.json\.\n$/,
    );
  });

  it("where nothing is configured either, it names every way", async () => {
    expect((await ralph({})).err).toMatch(
      /There is no key: set OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY, or name a local server: OLLAMA_HOST=127\.0\.0\.1, or research-ralph config --global api_url=<address>\.(?: Ollama answers .*)?\n$/,
    );
  });

  it("words before a call and the answer behind it are lines of their own", async () => {
    const call = { name: "file_list", input: { directory_path: "." } };
    const answer = ({ results }: ModelRequest): Answer =>
      results.length === 0 ? { text: "Let me look.", tools: [call] } : { text: "It is empty." };
    expect((await ralph({ env: keyed, answer })).out).toBe("Let me look.\nIt is empty.\n");
  });

  it("a maker is not asked over http, where its key could be read", async () => {
    const { code, asked } = await ralph({
      config: { api_url: "http://api.openai.com/v1/chat/completions" },
      env: keyed,
    });
    expect([code, asked]).toEqual([1, []]);
  });

  it("a key in a file that others can read is told", async () => {
    const config = { api_url: chat, openai_api_key: "sk-of-the-file" };
    mkdirSync(join(home, ".local/ralph"), { recursive: true });
    writeFileSync(join(home, ".local/ralph/config.json"), JSON.stringify(config), { mode: 0o644 });
    const { code, err } = await ralph({});
    expect(code).toBe(0);
    expect(err).toContain("chmod 600");
  });
});

describe("a file with a key", () => {
  it("that git keeps is told", async () => {
    const config = { api_url: chat, openai_api_key: "sk-of-the-file" };
    const projectConfig = config;
    const cwd = join(folder, "here");
    mkdirSync(cwd, { recursive: true });
    execFileSync("git", ["init", "-q", cwd]);
    expect((await ralph({ projectConfig })).err).not.toContain("git tracks it");
    execFileSync("git", ["-C", cwd, "add", "ralph.config.json"]);
    expect((await ralph({})).err).toContain("ralph.config.json contains a key and git tracks it");
  });
});

describe("a ralph.config.json that came with a folder", () => {
  const foreign = { api_url: "https://models.example/v1/chat/completions", model: "m", openai_api_key: "k-123456" };

  it("sends nothing to an address of its own choice before the user has agreed, and again once it changes", async () => {
    expect(await ralph({ projectConfig: foreign })).toMatchObject({
      code: 2,
      asked: [],
      err: expect.stringMatching(/ralph\.config\.json sets api_url, .*'research-ralph trust .*--trust/),
    });
    expect((await ralph({ args: ["--trust"] })).code).toBe(0);
    expect(await ralph({})).toMatchObject({ code: 0, asked: [foreign.api_url] });
    // Only what was agreed to is asked again: the address, not the model.
    expect((await ralph({ projectConfig: { ...foreign, model: "another" } })).code).toBe(0);
    const again = { ...foreign, api_url: "https://models.example/v2/chat/completions" };
    expect(await ralph({ args: ["--trust", "hello"], projectConfig: again })).toMatchObject({
      code: 0,
      out: "Hello there\n",
      asked: [again.api_url],
      err: expect.stringContaining("is trusted with its present content"),
    });
    const changed = { ...foreign, api_url: "https://other.example/v1/chat/completions" };
    expect(await ralph({ projectConfig: changed })).toMatchObject({ code: 2, asked: [] });
  });

  it("may name a maker or this machine", async () => {
    expect(
      (await ralph({ projectConfig: { api_url: "http://127.0.0.1:1234/v1/chat/completions", model: "m" } })).code,
    ).toBe(0);
  });

  const own = { api_url: chat, model: "mine", openai_api_key: "sk-of-the-user" };

  it("does not get a key or a model of the user's file for its address", async () => {
    const { requests } = await ralph({
      config: own,
      projectConfig: { api_url: "http://127.0.0.1:1234/v1/chat/completions" },
    });
    expect(JSON.stringify(requests[0]?.headers)).not.toContain("sk-of-the-user");
    expect(requests[0]?.body["model"]).not.toBe("mine");
  });

  it("may choose the model alone, of the user's service", async () => {
    const { requests, asked } = await ralph({ config: own, projectConfig: { model: "theirs", max_tokens: 900_000 } });
    expect([asked, requests[0]?.body["model"]]).toEqual([[chat], "theirs"]);
    expect(JSON.stringify(requests[0]?.headers)).toContain("sk-of-the-user");
    // Without an address beside it, max_tokens is the limit of a run.
    expect(JSON.stringify(requests[0]?.body)).not.toContain("900000");
  });
});

describe("a service that fails", () => {
  const config = { api_url: chat, model: "gpt-4o", openai_api_key: "sk-of-the-file" };
  const failing = async (answer: (request: ModelRequest) => Answer) => await ralph({ config, answer });
  const times = (count: number, first: Answer) => {
    let asked = 0;
    return (): Answer => ((asked += 1) <= count ? first : { text: "At last" });
  };

  it.each([
    ["429 with Retry-After", { status: 429, headers: { "retry-after": "7" } }, [7, 7]],
    ["500", { status: 500 }, [2, 4]],
    ["a connection that is cut", "cut", [2, 4]],
    ["a page instead of an answer", { raw: "<html>down for repair</html>", type: "text/html" }, [2, 4]],
    ["an empty answer", { raw: "data: [DONE]\n\n" }, [2, 4]],
  ] as const)("%s: is asked again after the time it names, or a time that doubles", async (_, answer, expected) => {
    const { code, out, waits, requests } = await failing(times(2, answer));
    expect([code, out, waits, requests.length]).toEqual([0, "At last\n", expected, 3]);
  });

  it.each([
    [
      "a limit",
      { status: 429, message: "slow down" },
      "OpenAI accepts no more requests for now: rate_limit_error: slow down.",
    ],
    ["an error of its own", { status: 500, message: "it broke" }, "OpenAI failed (HTTP 500): api_error: it broke."],
  ] as const)("%s is told as what it is, in lines without empty ones between", async (_, answer, sentence) => {
    const { err } = await failing(times(2, answer));
    expect(err.trimEnd().split("\n")).toEqual([
      `ralph: ${sentence} Trying again in 2 s (2 of 4).`,
      `ralph: ${sentence} Trying again in 4 s (3 of 4).`,
    ]);
  });

  it("is asked four times at most", async () => {
    const { code, err, requests } = await failing(() => ({ status: 503 }));
    expect([code, requests.length]).toEqual([1, 4]);
    expect(err.trim().split("\n").at(-1)).toMatch(/^ralph: OpenAI .*\.$/);
  });

  it.each([
    ["a refused key", { status: 401, message: "Incorrect API key provided: sk-of-the-file." }, "refused the key in"],
    ["an unknown model", { status: 404, message: "The model does not exist" }, "gpt-4o"],
    [
      "an account without credit",
      { status: 429, message: "You exceeded your current quota", code: "insufficient_quota" },
      "out of credit",
    ],
    ["a wrong request", { status: 400, message: "Unsupported parameter" }, "Unsupported parameter"],
    ["an empty account", { status: 402, message: "Insufficient Balance" }, "Add credit"],
    ["a request of too many bytes", { status: 413 }, "Send less"],
    ["a limit that lasts", { status: 429, headers: { "retry-after": "3600" } }, "Ask again in 1h"],
    [
      "an answer that is withheld",
      {
        raw: 'data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}\n\ndata: [DONE]\n\n',
      },
      "content filter",
    ],
    [
      "an error inside an answer with status 200",
      { raw: 'data: {"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}\n\n' },
      "quota",
    ],
  ] as const)("%s: is not asked again, and one sentence says what to do", async (_, answer, part) => {
    const { code, err, requests } = await failing(() => answer);
    expect([code, requests.length]).toEqual([1, 1]);
    expect(err).toContain(part);
    expect(err).not.toContain("sk-of-the-file");
    expect(err.trim().split("\n")).toHaveLength(1);
  });

  it("a request that is longer than the model's window is not sent", async () => {
    const local = { api_url: "http://localhost:1234/v1/chat/completions", model: "local-model" };
    const { code, err, requests } = await ralph({ config: local, stdin: "word ".repeat(20_000) });
    expect([code, requests.length]).toEqual([1, 0]);
    expect(err).toContain("set context_window");
  });

  it("an answer that breaks off is told on a line of its own", async () => {
    const { out, err } = await failing(() => ({
      raw: 'data: {"id":"x","choices":[{"index":0,"delta":{"content":"Half"},"finish_reason":"length"}]}\n\n',
    }));
    expect([out, err]).toEqual(["Half", expect.stringMatching(/^\nralph: The answer of gpt-4o was cut off/)]);
  });

  it("thinking between tags is no part of an answer, nor of what is asked next", async () => {
    const { out, requests } = await failing(({ results }) =>
      results.length === 0
        ? { text: "<think>Hm.</think>", tools: [{ name: "TodoWrite", input: { todos: [] } }] }
        : { text: "<think>Oh.</think>\n\nDone" },
    );
    expect(out).toBe("Done\n");
    expect(JSON.stringify(requests[1]?.body)).not.toContain("think>");
  });

  it("thinking whose tag the model's template has opened is neither", async () => {
    const { out, err, requests } = await failing(({ results }) =>
      results.length === 0
        ? { text: "Hm, let me see.\n</think>\n\n", tools: [{ name: "TodoWrite", input: { todos: [] } }] }
        : { text: "Oh.</think>\n\nDone" },
    );
    expect([out, err]).toEqual(["Done\n", ""]);
    expect(JSON.stringify(requests[1]?.body)).not.toMatch(/think>|let me see/);
  });

  it("thinking that came before its tag is told of as such", async () => {
    const piece = (content: string, more = "") =>
      `data: {"id":"x","choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}${more}}]}\n\n`;
    const raw = `${piece("Oh.")}${piece("\n</think>\n\n")}${piece("Done", ',"finish_reason":"stop"')}data: [DONE]\n\n`;
    const { out, err } = await failing(() => ({ raw }));
    expect([out, err]).toEqual([
      "Oh.\nDone\n",
      "ralph: The text above was the model's thinking; its answer begins here.\n",
    ]);
  });

  it("an answer of control characters does not reach the terminal", async () => {
    const { out } = await failing(() => ({ text: "a\u001b[2Jb\u0007c" }));
    expect(out).not.toContain("\u001b");
    expect(out).not.toContain("\u0007");
  });
});

describe("what a person does", () => {
  it("pipes a text behind a message", async () => {
    const { requests } = await ralph({ env: keyed, args: ["review", "this"], stdin: "+ const a = 1;\n" });
    expect(requests[0]?.user).toBe("review this\n\n+ const a = 1;");
  });

  it.each([
    ["--modle", "Unknown option '--modle'; the nearest one is --model."],
    ["--zzzzzz", "Unknown option '--zzzzzz'; `ralph --help` lists the options."],
    ["--json=1", "Unknown option '--json=1'; the nearest one is --json."],
    ["--model", "Option '-m, --model <name>' argument missing; `ralph --help` lists the options."],
  ])("names what %s was meant to be", async (flag, said) => {
    expect(await ralph({ args: [flag] })).toMatchObject({ code: 2, err: `ralph: ${said}\n` });
  });

  it("is told where the model's name was forgotten before another flag, and nothing is asked", async () => {
    const { code, err, asked } = await ralph({ args: ["--model", "--yes", "hello"], env: keyed });
    expect([code, asked]).toEqual([2, []]);
    expect(err).toMatch(/^ralph: Option '-m, --model <name>' argument '--yes' is invalid\..*`ralph --help`.*\.\n$/);
  });

  it("goes on with single messages apart from dialogues, and lists and prints them by name", async () => {
    const answer = ({ user }: ModelRequest): Answer => ({ text: `You said: ${user}` });
    await ralph({ env: keyed, args: ["what does EAGAIN mean?"], answer });
    await ralph({ env: keyed, args: ["another", "thing"] });
    const { requests } = await ralph({ env: keyed, args: ["-c", "and", "now?"] });
    const sent = requests.at(-1)?.body["messages"] as readonly { role: string; content: unknown }[];
    expect(sent.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
      "another thing",
      "and now?",
    ]);
    const list = await ralph({ env: keyed, args: ["sessions"] });
    expect(list.out).toMatch(/^another-thing +message +2026-11-22 12:00 +4 messages +another thing\n/);
    const { sessions } = JSON.parse((await ralph({ env: keyed, args: ["sessions", "--json"] })).out);
    expect(sessions.map(({ name }: { name: string }) => name)).toEqual(["another-thing", "what-does-eagain-mean"]);
    const one = await ralph({ env: keyed, args: ["sessions", "what-does-eagain-mean"] });
    expect([one.code, one.out]).toEqual([0, "> what does EAGAIN mean?\n\nYou said: what does EAGAIN mean?\n"]);
    const none = await ralph({ env: keyed, args: ["sessions", "what-does-eagain-meen"] });
    expect([none.code, none.err]).toEqual([2, expect.stringContaining("the nearest one is what-does-eagain-mean.")]);
    expect(none.requests).toHaveLength(3);
  });

  it("asks again for an action whose JSON was cut, prints none of it, and gives up after three", async () => {
    const cut = '{"action": "read", "path": "no';
    const answer = ({ user }: ModelRequest): Answer => ({ text: user.includes("ends too early") ? "It says A." : cut });
    const mended = await ralph({ env: keyed, answer });
    expect([mended.code, mended.out, mended.requests.length]).toEqual([0, "It says A.\n", 2]);
    await server?.close();
    server = undefined;
    const never = await ralph({ env: keyed, answer: () => ({ text: cut }) });
    expect([never.code, never.out, never.requests.length]).toEqual([1, "", 3]);
    expect(never.err).toContain("wrote an action with invalid JSON 3 times in a row");
  });

  it("finds every flag of people's in --help, within 80 columns, and none of research-ralph's own", async () => {
    const { out } = await ralph({ args: ["--help"] });
    expect(out.match(/^  (?:-\w, )?--[\w-]+/gm)?.map((flags) => flags.trim())).toEqual([
      ...["-m, --model", "--api-url", "--json", "--debug", "-c, --continue", "-y, --yes", "--trust", "--settings"],
      ...["--headless", "-v, --version", "-h, --help"],
    ]);
    expect(out).toContain("ralph memory <command>\n       ralph sessions [name]\n       ralph tools [--json]\n");
    expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  it("writes flags behind the words of a message, and behind -- words that look like flags", async () => {
    const { requests } = await ralph({ env: keyed, args: ["say", "hi", "-m", "gpt-4o", "--", "--yes"] });
    expect([requests[0]?.user, requests[0]?.body["model"]]).toEqual(["say hi --yes", "gpt-4o"]);
  });

  it("finds a file to edit after the first start, for nobody else's eyes", async () => {
    const { err } = await ralph({ env: keyed });
    const path = join(home, ".local/ralph/config.json");
    expect(err).toContain(path);
    const written = JSON.parse(readFileSync(path, "utf8")) as object;
    expect([Object.keys(written).length, written]).toMatchObject([12, { api_url: "", model: "", max_tokens: -1 }]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    // No maker is written, so a key that is set later decides.
    expect((await ralph({ env: { ANTHROPIC_API_KEY: "sk-ant-123456" } })).asked).toEqual([messages]);
  });

  it.each([
    [["--nonsense"], 2],
    [[], 2],
    [["--version"], 0],
    [["--help"], 0],
  ] as const)("%j ends with %i", async (args, expected) => {
    const { code, err, asked } = await ralph({ args, env: keyed });
    expect([code, asked]).toEqual([expected, []]);
    expect(err).not.toMatch(/\n.*\n/);
  });

  it("by one word that is a command of research-ralph is told, and no model is asked", async () => {
    const { code, err, asked } = await ralph({ args: ["status"], env: keyed });
    expect([code, asked]).toEqual([2, []]);
    expect(err).toBe(
      "ralph: 'status' is a command of research-ralph; run: research-ralph status. To send a message to the model, write more than this word.\n",
    );
    expect((await ralph({ args: ["status", "of", "my", "code?"], env: keyed })).code).toBe(0);
  });

  it("sees its requests with --debug, and no key", async () => {
    const { err } = await ralph({ env: keyed, args: ["--debug", "hello"] });
    expect(err).toContain(`→ POST ${chat}`);
    expect(err).toContain('"hello"');
    expect(err).not.toContain(keyed.OPENAI_API_KEY);
  });

  it("is told which model is asked with which key, without a request", async () => {
    const { code, out, asked } = await ralph({ args: ["--settings"], env: keyed });
    expect([code, asked]).toEqual([0, []]);
    expect(out).toContain("OPENAI_API_KEY");
    expect(out).not.toContain(keyed.OPENAI_API_KEY);
  });
});

describe("a signal while more is piped in", () => {
  it.each([
    [["hello"], "SIGTERM", 143],
    [["hello"], "SIGINT", 130],
    [["--headless"], "SIGTERM", 143],
  ] as const)("%j at %s ends with exit code %i", async (args, signal, code) => {
    const io = fakeIo({ cwd: folder, env: { HOME: home, ...keyed }, stdin: new PassThrough() });
    const ended = main(args, io, { version: "1.2.3", keys: configKeys, otherCommands: new Set() }, outsideAlone);
    io.signals.emit(signal);
    expect([await ended, io.out(), io.err()]).toEqual([code, "", ""]);
  });
});

describe("the memory", () => {
  const memory = async (...words: readonly string[]) => await ralph({ args: ["memory", ...words], env: keyed });

  it.skipIf(process.platform !== "linux")(
    "says where it can't be made in a home that nobody can write to",
    async () => {
      const { code, err } = await ralph({ args: ["memory", "list"], env: { ...keyed, HOME: "/proc/self" } });
      expect([code, err]).toEqual([1, expect.stringContaining("/proc/self/.local")]);
    },
  );

  it("is added to a message that it fits, with where it is from, as data", async () => {
    expect((await memory("add", "The user's staging server is called hermes.")).out).toBe("Remembered as 1.\n");
    const { requests } = await ralph({ args: ["what is the staging server called?"], env: keyed });
    const [system] = requests.at(-1)?.body["messages"] ?? [];
    expect(system).toMatchObject({ role: "system", content: expect.stringContaining("hermes") });
    expect(system.content).toMatch(/general, normal, from ralph memory add, similarity 0\.\d\d:\n<untrusted-text/);
  });

  it.each([
    [["help"], 0, "memory search"],
    [["list"], 0, "1  general, normal"],
    [["search", "fingertip"], 0, "worn fingertips"],
    [["show", "1"], 0, "type: general"],
    [["edit", "1", "importance", "critical"], 0, "importance: critical"],
    [["indices"], 0, "documents, 0 chunks"],
    [["stats"], 0, "maximum of chunks: 100000"],
    [["forget", "1"], 0, "Forgotten: 1"],
  ] as const)("%j", async (words, code, part) => {
    await memory("add", "worn fingertips lose grip");
    const { code: ended, out } = await memory(...words);
    expect([ended, out]).toEqual([code, expect.stringContaining(part)]);
  });

  it.each([
    [["show", "99"], "There is no chunk 99."],
    [["show", "x"], "'x' is not the number of a chunk."],
    [["forget"], "Give the number of a chunk."],
    [["edit", "1", "colour", "red"], "'colour' is not a field"],
    [["edit", "1", "type", "wish"], "'wish' is no type"],
    [["list", "nowhere"], "There is no index nowhere."],
    [["search"], "Give words"],
    [["export"], "Give a folder"],
    [["export", ""], "Give a folder"],
  ] as const)("%j says what is wrong, with exit code 1", async (words, part) => {
    await memory("add", "something");
    const { code, out, err } = await memory(...words);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(part);
  });

  it("is exported as a file a chunk", async () => {
    await memory("add", "something to keep");
    const target = join(folder, "out");
    expect((await memory("export", target)).code).toBe(0);
    const written = JSON.parse(readFileSync(join(target, "metadata/long_term_memory/chunk_1.json"), "utf8"));
    expect(written).toMatchObject({ id: 1, content: "something to keep", type: "general", importance: "normal" });
  });

  it("that is broken is a warning, and the message is answered", async () => {
    mkdirSync(join(home, ".local/ralph"), { recursive: true });
    writeFileSync(join(home, ".local/ralph/memory.db"), "no database at all ".repeat(300));
    const { code, out, err } = await ralph({ env: keyed });
    expect([code, out]).toEqual([0, "Hello there\n"]);
    expect(err).toContain("Going on without it.");
  });

  it("is sent to no embedding service that a folder's file names before the user has agreed", async () => {
    const projectConfig = { api_url: chat, embedding_api_url: "https://vectors.example/v1/embeddings" };
    const { code, err, asked } = await ralph({ args: ["memory", "add", "secret"], env: keyed, projectConfig });
    expect([code, asked]).toEqual([2, []]);
    expect(err).toContain("sets embedding_api_url,");
  });

  it.skipIf(process.platform !== "linux")("that can't be exported to a place says so at once", async () => {
    await memory("add", "something");
    const { code, err } = await memory("export", "/proc/x");
    expect(code).toBe(1);
    expect(err).toContain("/proc/x");
  });

  it.each([[["nope"]], [["serch", "worn", "tips"]]] as const)(
    "%j names the commands, and asks no model",
    async (words) => {
      const { code, err, asked } = await memory(...words);
      expect([code, asked]).toEqual([1, []]);
      expect(err).toContain(`There is no command 'memory ${words[0]}'`);
      expect(err).toContain("memory search");
    },
  );

  it("tells its figures in words", async () => {
    const { out } = await memory("stats");
    expect(out).toContain("maximum of chunks: 100000");
    expect(out).not.toMatch(/[a-z][A-Z]/);
  });

  it("is no command where a message only begins with its name", async () => {
    expect((await ralph({ args: ["memory", "leaks", "in", "C"], env: keyed })).requests.at(-1)?.user).toBe(
      "memory leaks in C",
    );
  });
});
