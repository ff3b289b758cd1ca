import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AgentEvent } from "../../../src/engine/loop/types.js";
import type { Limits } from "../../../src/engine/sandbox/sandbox.js";
import { noBubblewrap, sandboxPath, skippedFor } from "../../support/processes/bubblewrap.js";
import { compileEntries } from "../../support/processes/compiled.js";
import { dockerEngine } from "../sandbox/docker-engine.js";
import type { Trial } from "./escapes/try-agent.js";
import { type Cli, type FakeLlm, optionsFor, startFakeLlm, type ToolCall } from "./support/agents.js";
import { installed } from "./support/install.js";

const script = fileURLToPath(new URL("escapes/attempts.sh", import.meta.url));
const isRoot = process.getuid?.() === 0;
const nobody = "65534";
/** Who the agents are: root, and somebody else. A test that is not run as root tries itself alone. */
const users = isRoot ? (["root", "user"] as const) : (["user"] as const);

const engine = await dockerEngine();
const docker = "problem" in engine ? { host: "unix:///nonexistent", image: "" } : engine;

let folder = "";
let program = "";
beforeAll(async () => {
  // Not in the tests' own temporary folder, which others may not enter.
  folder = mkdtempSync("/tmp/rr-escapes-");
  chmodSync(folder, 0o755);
  program = join(await compileEntries(folder, { trial: "tests/system/real-agents/escapes/try-agent.ts" }), "trial.js");
});

/** One line an attempt: where, as whom, which agent, what, and what came of it. */
const table: string[] = [];
afterAll(async () => {
  if (!("problem" in engine)) await engine.stop();
  rmSync(folder, { recursive: true, force: true });
  console.log(`The escape table: where, as whom, agent, attempt, result, what was said\n${table.join("\n")}`);
  const file = process.env["RR_ESCAPE_TABLE"];
  if (file !== undefined && table.length > 0) appendFileSync(file, `${table.join("\n")}\n`);
});

type Where = Trial["where"];
type User = (typeof users)[number];
interface Row {
  readonly name: string;
  readonly result: string;
  readonly detail?: string;
}

function note(where: Where, user: User, agent: Cli, rows: readonly Row[]): void {
  table.push(...rows.map(({ name, result, detail = "" }) => [where, user, agent, name, result, detail].join(" | ")));
}

/** Numbers of the kernel's calls keyctl and add_key. */
const [keyctl, addKey] = process.arch === "arm64" ? ["219", "217"] : ["250", "248"];
/** Starts a program with a key in its session. */
const withKey = [
  ...["perl", "-e"],
  `my ($session, $type, $name, $key) = ("planted", "user", "planted", "PLANTED-SESSION-KEY");
   syscall(${keyctl}, 1, $session);
   syscall(${addKey}, $type, $name, $key, length $key, -3); exec @ARGV`,
];

/** What an agent might reach, all of it planted for one trial. */
async function plant(user: User) {
  const place = mkdtempSync(join(folder, "t-"));
  for (const name of ["home/.ssh", "other", "outside", "workspace", "state", "tmp"])
    mkdirSync(join(place, name), { recursive: true });
  writeFileSync(join(place, "home/.ssh/id_planted"), "PLANTED-SSH");
  writeFileSync(join(place, "other/rrd.json"), '"PLANTED-PROJECT"');
  cpSync(script, join(place, "workspace/attempts.sh"));
  execFileSync("git", ["init", "-q", join(place, "workspace")]);
  const isOther = isRoot && user === "user";
  const as = isOther ? ["setpriv", "--reuid", nobody, "--regid", nobody, "--clear-groups"] : [];
  const owned = (...paths: string[]) => {
    if (isOther) execFileSync("chown", ["-R", nobody, ...paths.map((path) => join(place, path))]);
  };
  owned(".");
  const abstract = `planted-${randomUUID()}`;
  const say = (server: Server) =>
    server.on("connection", (client) => client.on("error", () => {}).end("PLANTED-SERVICE"));
  const http = createHttpServer((_, answer) => answer.end("PLANTED-SERVICE"));
  const servers = [http, say(createServer()), say(createServer())] as const;
  const dns = createSocket("udp4");
  dns.on("message", (_, { port, address }) => dns.send("ANSWERED", port, address));
  await Promise.all([
    once(servers[0].listen(0, "127.0.0.1"), "listening"),
    once(servers[1].listen(join(place, "planted.sock")), "listening"),
    once(servers[2].listen(`\0${abstract}`), "listening"),
    new Promise<void>((resolve) => dns.bind(0, "127.0.0.1", resolve)),
  ]);
  owned("planted.sock");
  // A signal of its own makes it write a file, so that nobody has to believe what an agent says.
  const sleeper = spawn(
    "setpriv",
    [...as.slice(1), "sh", "-c", `trap 'echo hit > "${place}/hit"' USR1; echo ready; while :; do sleep 0.1; done`],
    { env: { PATH: process.env["PATH"], PLANTED_MARK: "PLANTED-ENVIRONMENT" }, detached: true },
  );
  await once(sleeper.stdout, "data");
  const left = `54${process.pid}.${Math.floor(Math.random() * 1e6)}`;
  return {
    place,
    as,
    left,
    words: {
      PLANTED: place,
      HOST_PORT: String((http.address() as AddressInfo).port),
      DNS_PORT: String(dns.address().port),
      HOST_PID: String(sleeper.pid),
      ABSTRACT: abstract,
      LEFT: left,
      ARCH_PTRACE: process.arch === "arm64" ? "117" : "101",
      ARCH_KEYCTL: keyctl,
    },
    async close() {
      process.kill(-(sleeper.pid ?? 0), "SIGKILL");
      dns.close();
      for (const server of servers) server.close();
    },
  };
}

const shellCall = (cli: Cli, command: string): ToolCall =>
  cli === "claude"
    ? { name: "Bash", input: { command, timeout: 60_000 } }
    : { name: "exec_command", input: { cmd: command, yield_time_ms: 60_000 } };

/** Lets the model of a real agent order one command; answers with how the agent ended. */
async function order(
  cli: Cli,
  where: Where,
  { place, as }: Pick<Awaited<ReturnType<typeof plant>>, "place" | "as">,
  command: string,
  limits?: Partial<Limits>,
): Promise<{ events: AgentEvent[]; server: FakeLlm }> {
  const server = await startFakeLlm(({ results }) =>
    results.length === 0 ? { text: "Trying.", tools: [shellCall(cli, command)] } : { text: "Done." },
  );
  const home = join(place, "home");
  const options = optionsFor(cli, server, home);
  const keyed = { ANTHROPIC_API_KEY: "PLANTED-KEY-OF-CLAUDE", FAKE_KEY: "PLANTED-KEY-OF-CODEX" };
  const variable = cli === "claude" ? "ANTHROPIC_API_KEY" : "FAKE_KEY";
  const trial: Trial = {
    agent: cli,
    where,
    options: { ...options, env: { ...options.env, [variable]: keyed[variable] } },
    env: {
      PATH: sandboxPath,
      HOME: home,
      TMPDIR: join(place, "tmp"),
      DOCKER_HOST: docker.host,
      GITHUB_TOKEN: "PLANTED-KEY-OF-ANOTHER",
    },
    workspace: join(place, "workspace"),
    stateDir: join(place, "state"),
    // In a container the attempts need the host's own programs: without curl nothing could get out.
    readOnly: [join(place, "workspace/.git"), ...(where === "docker" ? ["/usr"] : [])],
    limits,
    image: where === "docker" ? docker.image : undefined,
  };
  const [first = process.execPath, ...rest] = [...as, ...withKey, process.execPath, program];
  const child = spawn(first, rest, {
    env: { PATH: process.env["PATH"], TMPDIR: join(place, "tmp"), HOME: home },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(JSON.stringify(trial));
  const printed = await text(child.stdout);
  return { events: JSON.parse(printed) as AgentEvent[], server };
}

const inShell = (words: Readonly<Record<string, string>>): string =>
  Object.entries(words)
    .map(([name, value]) => `${name}='${value}'`)
    .join(" ");

/** How many processes run that have this among their arguments. */
const running = (argument: string): number =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(argument);
    } catch {
      return false;
    }
  }).length;

/** All attempts of one agent; heard from it and seen from outside. */
async function attempts(cli: Cli, where: Where, user: User): Promise<Row[]> {
  const planted = await plant(user);
  const { place, words, left } = planted;
  const kind = where === "host" ? "" : "everything";
  const { events, server } = await order(
    cli,
    where,
    planted,
    `${inShell(words)} sh attempts.sh ${kind} > rows.txt 2> /dev/null`,
  );
  await server.close();
  const stillRuns = running(left) > 0;
  await planted.close();
  expect(events.at(-1), JSON.stringify(events)).toMatchObject({ type: "end", message: "Done." });
  const key = server.requests.map(({ headers }) => `${headers["x-api-key"] ?? ""}${headers.authorization ?? ""}`);
  expect(key.join()).toMatch(/PLANTED-KEY-OF-C/);
  const said = readFileSync(join(place, "workspace/rows.txt"), "utf8").trimEnd().split("\n");
  const rows = said
    .map((line) => line.split("\t"))
    .map(([name = "", result = "", detail = ""]) => ({ name, result, detail }));
  const seen = (name: string, escaped: boolean): Row => ({ name, result: escaped ? "ESCAPED" : "contained" });
  return [
    ...rows,
    seen("a file outside, seen from outside", readdirSync(join(place, "outside")).length > 0),
    seen("a signal, seen from outside", existsSync(join(place, "hit"))),
    seen("a process left behind", stillRuns),
  ];
}

const small: Partial<Limits> = { maxProcesses: 300, maxDiskBytes: 300 * 2 ** 20, maxMemoryBytes: 2 * 2 ** 30 };

/** What uses up a machine, bounded in case nothing stops it. */
const hogs = {
  "a fork bomb": "sh -c 'i=0; while [ $i -lt 900 ]; do sleep $LEFT & i=$((i+1)); done'; sleep 1",
  "a memory hog": `for n in 1 2 3 4; do node -e 'const kept = []; for (let i = 0; i < 9; i++) kept.push(Buffer.alloc(1e8, 1)); setTimeout(() => {}, 6000)' & done; wait`,
  "a disk filler":
    "i=0; while [ $i -lt 30 ]; do dd if=/dev/zero of=filler.$i bs=1M count=100 2> /dev/null; sleep 0.1; i=$((i+1)); done",
} as const;

async function hog(cli: Cli, where: Where, user: User, name: keyof typeof hogs): Promise<Row> {
  const planted = await plant(user);
  const { left } = planted;
  let most = 0;
  const watching = setInterval(() => (most = Math.max(most, running(left))), 100);
  const { events, server } = await order(cli, where, planted, hogs[name].replace("$LEFT", left), small);
  clearInterval(watching);
  await server.close();
  await planted.close();
  const end = events.at(-1);
  const wasEnded = end?.type === "end" && end.failure?.kind === "resources";
  rmSync(join(planted.place, "workspace"), { recursive: true, force: true });
  // Where the kernel itself let it grow no further, nobody had to end it.
  const isBounded = name === "a fork bomb" && most > 10 && most <= (small.maxProcesses ?? 0) && running(left) === 0;
  return { name, result: wasEnded || isBounded ? "contained" : `ESCAPED (${most}, ${JSON.stringify(end)})` };
}

for (const cli of ["claude", "codex"] as const) {
  const found = installed(cli);
  const missing = "problem" in found ? found.problem : noBubblewrap;
  describe.skipIf(missing !== undefined)(`an agent told to escape, the real ${cli}${skippedFor(missing)}`, () => {
    test.each(users)("is contained in bubblewrap, as %s", async (user) => {
      const rows = await attempts(cli, "bubblewrap", user);
      for (const name of Object.keys(hogs) as (keyof typeof hogs)[])
        rows.push(await hog(cli, "bubblewrap", user, name));
      note("bubblewrap", user, cli, rows);
      expect(rows.length).toBeGreaterThan(40);
      expect(rows.filter(({ result }) => result !== "contained")).toEqual([]);
    });

    test.skipIf("problem" in engine)(
      `is contained in Docker${"problem" in engine ? ` (skipped: ${engine.problem})` : ""}`,
      async () => {
        const user = isRoot ? "root" : "user";
        const rows = await attempts(cli, "docker", user);
        for (const name of Object.keys(hogs) as (keyof typeof hogs)[]) rows.push(await hog(cli, "docker", user, name));
        note("docker", user, cli, rows);
        expect(rows.filter(({ result }) => result !== "contained").map(({ name }) => name)).toEqual([]);
      },
    );

    test("does what it likes on the host without any confinement, so that the attempts are known to work", async () => {
      const rows = await attempts(cli, "host", isRoot ? "root" : "user");
      note("host", isRoot ? "root" : "user", cli, rows);
      const escaped = rows.filter(({ result }) => result === "ESCAPED").map(({ name }) => name);
      expect(escaped).toEqual(
        expect.arrayContaining([
          ...["a key in ~/.ssh", "another project", "writing outside", "a hard link", "a git hook", "/proc/*/environ"],
          ...["a signal to the host", "the host's loopback", "DNS on the host", "a unix socket by its path"],
          ...[
            "a key of the session",
            "an abstract unix socket",
            "a file outside, seen from outside",
            "a signal, seen from outside",
          ],
        ]),
      );
    });
  });
}
