import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSandbox } from "../../../src/engine/sandbox/open-sandbox.js";
import type { Sandbox } from "../../../src/engine/sandbox/sandbox.js";
import { noBubblewrap, sandboxPath, skippedFor } from "../../support/processes/bubblewrap.js";
import {
  type Answer,
  type Cli,
  type FakeLlm,
  type ModelRequest,
  runReal,
  type Setup,
  startFakeLlm,
} from "./support/agents.js";
import { dockerEngine } from "../sandbox/docker-engine.js";
import { installed } from "./support/install.js";

let folder = "";
let server: FakeLlm;
let sandbox: Sandbox;
beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "in-sandbox-")));
  if (noBubblewrap !== undefined) return;
  const opened = await openSandbox("bubblewrap", { env: { PATH: sandboxPath } });
  if (opened.sandbox !== undefined) ({ sandbox } = opened);
});
afterEach(async () => {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

const noCodex = ((): string | undefined => {
  const found = installed("codex");
  return "problem" in found ? found.problem : noBubblewrap;
})();

describe.skipIf(noCodex !== undefined)(
  `the real codex with its own model service, in bubblewrap${skippedFor(noCodex)}`,
  () => {
    test.each(["CODEX_API_KEY", "OPENAI_API_KEY"])("works with the key in %s, which stays outside", async (name) => {
      server = await startFakeLlm(shell("printenv > out.txt; true"));
      const settings = { exec: sandbox.exec, sandbox };
      const options = {
        args: ["-c", `openai_base_url="${server.url}/v1"`],
        env: { HOME: join(folder, "home"), FAKE_KEY: "", [name]: "the-real-key" },
      };
      const { events, workspace } = await runReal("codex", "the brief", {
        folder,
        server,
        settings,
        options,
        access: { shell: true },
      });
      expect(events.at(-1), JSON.stringify(events)).toMatchObject({ type: "end", message: "Done." });
      expect(readFileSync(join(workspace, "out.txt"), "utf8")).not.toContain("the-real-key");
      const sent = new Set(server.requests.map(({ headers }) => headers.authorization));
      expect([...sent]).toEqual(["Bearer the-real-key"]);
    });

    test("works with a login file, which it sees where it looks for one", async () => {
      server = await startFakeLlm(shell("cat ~/.codex/auth.json > out.txt; ls -a ~/.codex > names.txt"));
      const login = join(folder, "home", ".codex", "auth.json");
      mkdirSync(dirname(login), { recursive: true });
      writeFileSync(
        login,
        JSON.stringify({ auth_mode: "apikey", OPENAI_API_KEY: "of-the-login", tokens: null, last_refresh: null }),
      );
      writeFileSync(join(dirname(login), "config.toml"), 'model = "planted"');
      const { port } = new URL(server.url);
      const { events, workspace } = await runReal("codex", "the brief", {
        folder,
        server,
        settings: { exec: sandbox.exec, sandbox },
        options: {
          args: ["-c", `openai_base_url="${server.url}/v1"`],
          env: { HOME: join(folder, "home"), FAKE_KEY: "" },
          hosts: [`127.0.0.1:${port}`],
        },
        access: { shell: true },
      });
      expect(events.at(-1), JSON.stringify(events)).toMatchObject({ type: "end", message: "Done." });
      expect(readFileSync(join(workspace, "out.txt"), "utf8")).toContain("of-the-login");
      expect(readFileSync(join(workspace, "names.txt"), "utf8")).not.toContain("config.toml");
      expect(server.requests[0]?.headers.authorization).toBe("Bearer of-the-login");
    });

    test("renews a token that has expired, and the user's own file has it", async () => {
      const answers = createServer((incoming, answer) => {
        incoming.resume().on("end", () => {
          // All it has to do is to renew its login; the model itself refuses.
          if (incoming.url !== "/token") return void answer.writeHead(400).end("{}");
          answer.setHeader("content-type", "application/json");
          const renewed = { id_token: tokenUntil(4e9), access_token: tokenUntil(4e9), refresh_token: "renewed" };
          answer.end(JSON.stringify(renewed));
        });
      });
      const { port } = await new Promise<AddressInfo>((resolve) =>
        answers.listen(0, "127.0.0.1", () => resolve(answers.address() as AddressInfo)),
      );
      server = await startFakeLlm(() => ({ text: "Done." }));
      const login = join(folder, "home", ".codex", "auth.json");
      mkdirSync(dirname(login), { recursive: true });
      const tokens = { id_token: tokenUntil(1e9), access_token: tokenUntil(1e9), refresh_token: "old" };
      const old = { auth_mode: "chatgpt", OPENAI_API_KEY: null, last_refresh: "2020-01-01T00:00:00Z" };
      writeFileSync(login, JSON.stringify({ ...old, tokens: { ...tokens, account_id: "mine" } }));
      const own = `http://127.0.0.1:${port}`;
      await runReal("codex", "the brief", {
        folder,
        server,
        settings: { exec: sandbox.exec, sandbox },
        options: {
          args: ["-c", `openai_base_url="${own}/v1"`, "-c", `chatgpt_base_url="${own}"`],
          env: { HOME: join(folder, "home"), FAKE_KEY: "", CODEX_REFRESH_TOKEN_URL_OVERRIDE: `${own}/token` },
          hosts: [`127.0.0.1:${port}`],
        },
        access: { shell: true },
      }).finally(() => answers.close());
      expect(JSON.parse(readFileSync(login, "utf8"))).toMatchObject({
        tokens: { refresh_token: "renewed", account_id: "mine" },
      });
    });
  },
);

/** A token of a login that ends at this time, in seconds since the epoch. */
function tokenUntil(exp: number): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const account = { chatgpt_account_id: "mine", chatgpt_plan_type: "plus" };
  const claims = { exp, email: "someone@example.org", "https://api.openai.com/auth": account };
  return `${part({ alg: "none" })}.${part(claims)}.${part("signature")}`;
}

const engine = await dockerEngine();
const noDocker = "problem" in engine ? engine.problem : undefined;
afterAll(async () => {
  if (!("problem" in engine)) await engine.stop();
});

const shell =
  (command: string) =>
  ({ api, results }: ModelRequest): Answer => {
    if (results.length > 0) return { text: "Done." };
    const call = { name: "exec_command", input: { cmd: command } };
    return { text: "Working.", tools: [api === "anthropic" ? { name: "Bash", input: { command } } : call] };
  };

async function run(cli: Cli, answer: (request: ModelRequest) => Answer, more: Partial<Setup> = {}) {
  server = await startFakeLlm(answer);
  const settings = { exec: sandbox.exec, sandbox };
  return await runReal(cli, "the brief", { folder, server, settings, access: { shell: true }, ...more });
}

const keys = { claude: "ANTHROPIC_API_KEY", codex: "FAKE_KEY" } as const;

for (const cli of ["claude", "codex"] as const) {
  const found = installed(cli);
  const missing = "problem" in found ? found.problem : noBubblewrap;
  describe.skipIf(missing !== undefined)(`the real ${cli} in bubblewrap${skippedFor(missing)}`, () => {
    test("works with its shell on the workspace, while its key stays outside", async () => {
      const { events, workspace } = await run(cli, shell(`id -u > out.txt; printenv ${keys[cli]} >> out.txt`), {
        options: { env: { [keys[cli]]: "the-real-key" } },
      });
      expect(events.at(-1)).toMatchObject({ type: "end", message: "Done." });
      // Codex gives no variable to its commands whose name says that it is a secret.
      const held = cli === "claude" ? "1000\nkept-outside-the-sandbox\n" : "1000\n";
      expect(readFileSync(join(workspace, "out.txt"), "utf8")).toBe(held);
      const sent = server.requests.map(({ headers }) => headers["x-api-key"] ?? headers.authorization);
      expect(sent).toEqual(
        cli === "claude" ? ["the-real-key", "the-real-key"] : ["Bearer the-real-key", "Bearer the-real-key"],
      );
    });

    test("leaves nothing of itself at home, and finds nothing there", async () => {
      const { workspace } = await run(cli, shell("echo kept > ~/kept.txt; ls -A ~ > out.txt"));
      const names = readFileSync(join(workspace, "out.txt"), "utf8");
      expect(names).toContain("kept.txt");
      await server.close();
      await run(cli, shell("ls -A ~ > out.txt"));
      expect(readFileSync(join(workspace, "out.txt"), "utf8")).not.toContain("kept.txt");
      expect(existsSync(join(folder, "home", "kept.txt"))).toBe(false);
    });

    test("is ended where it uses up the memory it has, and the failure says so", async () => {
      const opened = await openSandbox("bubblewrap", {
        env: { PATH: sandboxPath },
        limits: { maxMemoryBytes: 2 ** 30 },
      });
      if (opened.sandbox === undefined) throw new Error(opened.explanation);
      const grow = "const kept = []; setInterval(() => kept.push(Buffer.alloc(5e7, 1)), 20)";
      const { events } = await run(cli, shell(`for n in 1 2 3; do node -e '${grow}' & done; wait`), {
        settings: { exec: opened.sandbox.exec, sandbox: opened.sandbox },
      });
      expect(events.at(-1)).toMatchObject({
        failure: { kind: "resources", message: expect.stringContaining("1 GB of memory") },
      });
    });
  });
}

for (const cli of ["claude", "codex"] as const) {
  const found = installed(cli);
  const missing = "problem" in found ? found.problem : noDocker;
  test.skipIf(missing !== undefined)(
    `the real ${cli} works in Docker with its shell, while its key stays outside${skippedFor(missing)}`,
    async () => {
      if ("problem" in engine) throw new Error(engine.problem);
      const env = { PATH: process.env["PATH"], DOCKER_HOST: engine.host };
      const opened = await openSandbox("docker", { env, image: engine.image });
      if (opened.sandbox === undefined) throw new Error(opened.explanation);
      const { events, workspace } = await run(cli, shell("cat /proc/self/status | grep CapEff > out.txt"), {
        settings: { exec: opened.sandbox.exec, sandbox: opened.sandbox },
        options: { env: { [keys[cli]]: "the-real-key" } },
      });
      expect(events.at(-1), JSON.stringify(events)).toMatchObject({ type: "end", message: "Done." });
      expect(readFileSync(join(workspace, "out.txt"), "utf8")).toBe("CapEff:\t0000000000000000\n");
      expect(JSON.stringify(server.requests.map(({ headers }) => headers))).toContain("the-real-key");
    },
  );
}
