import { execFile } from "node:child_process";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { noAccess, type ProcessAccess } from "../../../src/engine/process/access.js";
import type { ProcessEnd, ProcessRequest } from "../../../src/engine/process/run-process.js";
import { findBubblewrap } from "../../../src/engine/sandbox/bubblewrap.js";
import { openSandbox } from "../../../src/engine/sandbox/open-sandbox.js";
import type { SandboxOptions } from "../../../src/engine/sandbox/sandbox.js";
import { noBubblewrap, sandboxPath, skippedFor } from "../../support/processes/bubblewrap.js";

let folder: string;
let workspace: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "bwrap-")));
  workspace = join(folder, "workspace");
  mkdirSync(workspace);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface More {
  readonly options?: Partial<SandboxOptions>;
  readonly access?: Partial<ProcessAccess>;
  readonly request?: Partial<ProcessRequest>;
  /** Called before the next line is asked for. */
  readonly took?: (line: string) => Promise<void>;
}

async function run(
  command: string,
  { options, access, request, took }: More = {},
): Promise<{ out: string; end: ProcessEnd }> {
  const { sandbox } = await openSandbox("bubblewrap", { env: { PATH: sandboxPath }, ...options });
  const lines = sandbox?.exec({
    command: "sh",
    args: ["-c", command],
    cwd: workspace,
    env: { PATH: sandboxPath },
    stdin: "",
    timeoutMs: 60_000,
    idleMs: 0,
    isFinished: () => false,
    signal: new AbortController().signal,
    access: { ...noAccess, write: [workspace], ...access },
    ...request,
  });
  const out: string[] = [];
  for (;;) {
    const step = await lines?.next();
    if (step === undefined) throw new Error("no sandbox");
    if (step.done === true) return { out: out.join("\n"), end: step.value };
    out.push(step.value);
    await took?.(step.value);
  }
}

describe.skipIf(noBubblewrap !== undefined)(`a login in bubblewrap${skippedFor(noBubblewrap)}`, () => {
  const renew = (text: string) => `cd ~/.cli; cat login.json; printf '%s' '${text}' > new; mv new login.json`;
  const held = () => {
    const from = join(folder, "login.json");
    writeFileSync(from, '{"token":"old","account":"mine"}', { mode: 0o600 });
    return { from, target: "/home/agent/.cli/login.json", renewedFields: ["token"] };
  };

  test.each(["kept", "new"])("is renewed by a file that is renamed over it, in a %s home", async (kind) => {
    const login = held();
    const options = kind === "kept" ? { home: join(folder, "home") } : {};
    const { out, end } = await run(renew('{"token":"fresh","account":"mine"}'), {
      options,
      access: { logins: [login] },
    });
    expect(out).toBe('{"token":"old","account":"mine"}');
    expect(end).toMatchObject({ exitCode: 0, notices: [] });
    expect(readFileSync(login.from, "utf8")).toBe('{"token":"fresh","account":"mine"}');
    expect(statSync(login.from).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("is not changed in anything else, and that is said", async () => {
    const login = held();
    const { end } = await run(renew('{"token":"fresh","account":"theirs"}'), { access: { logins: [login] } });
    expect(end.notices).toEqual([`The login in the sandbox was changed; ${login.from} stays as it is.`]);
    expect(readFileSync(login.from, "utf8")).toBe('{"token":"old","account":"mine"}');
  });

  test("is renewed while the program still runs", async () => {
    const login = held();
    const access = { logins: [login] };
    const ended = run(`${renew('{"token":"fresh","account":"mine"}')}; sleep 100`, {
      access,
      request: {
        timeoutMs: 100_000,
        isFinished: () => readFileSync(login.from, "utf8").includes("fresh"),
        settleMs: 100,
        graceMs: 100,
      },
    });
    await expect.poll(() => readFileSync(login.from, "utf8")).toContain("fresh");
    await ended;
  });
});

describe.skipIf(noBubblewrap !== undefined)(`a program in bubblewrap${skippedFor(noBubblewrap)}`, () => {
  test("reads its stdin, works in its folder, and says how it ended", async () => {
    const { out, end } = await run("cat; pwd; echo kept > file.txt; echo told >&2; exit 3", {
      request: { stdin: "from stdin\n" },
    });
    expect(out).toBe(`from stdin\n${workspace}`);
    expect(end).toMatchObject({ cause: "exited", exitCode: 3, stderr: "told\n", notices: [] });
    expect(readFileSync(join(workspace, "file.txt"), "utf8")).toBe("kept\n");
  });

  test("says all that it has to say to a reader who is slow, also once it has used its way out", async () => {
    const server = createHttpServer((_, response) => response.end("answered\n"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const blocks = "grep flags /proc/self/fdinfo/1; grep flags /proc/self/fdinfo/2";
    const { out, end } = await run(`${blocks}; curl -s http://${host}/; ${blocks}; seq 1000000`, {
      access: { hosts: [host] },
      took: (line) => (line === "answered" ? sleep(1_000) : Promise.resolve()),
    });
    server.close();
    const lines = out.split("\n");
    expect(lines[2]).toBe("answered");
    expect(lines.slice(3, 5)).toEqual(lines.slice(0, 2));
    expect(lines.length).toBe(1_000_005);
    expect(end).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("sees nothing of the folder around its own, and what lies deeper counts before what lies around it", async () => {
    for (const name of ["workspace/.git", "other"]) mkdirSync(join(folder, name));
    writeFileSync(join(workspace, ".git/config"), "as it was");
    const { out } = await run(
      "ls ..; cat .git/config; echo x > .git/config || echo KEPT; echo x > new && echo WRITTEN",
      { access: { write: [workspace], read: [join(workspace, ".git"), join(folder, "not-there")] } },
    );
    expect(out).toBe("workspace\nas it wasKEPT\nWRITTEN");
  });

  test("gets of the environment what is named for it, and what every program is given", async () => {
    const env = { PATH: sandboxPath, SOME_TOKEN: "one", OTHER_KEY: "two", PLAIN: "three", MINE: "four", LANG: "C" };
    const { out } = await run(
      "printenv SOME_TOKEN; printenv OTHER_KEY; printenv PLAIN; printenv MINE; printenv LANG; echo $HOME $TMPDIR",
      { request: { env }, access: { variables: ["OTHER_KEY"] }, options: { allowedVariables: ["MINE"] } },
    );
    expect(out).toBe("two\nfour\nC\n/home/agent /tmp");
  });

  test("keeps its home where that is asked for, and no link in it leads a mount astray", async () => {
    const home = join(folder, "home");
    const outside = join(folder, "outside");
    mkdirSync(outside);
    writeFileSync(join(folder, "login"), "login");
    const login = { from: join(folder, "login"), target: "/home/agent/.cli/login" };
    const options = { home };
    await run(`echo kept > ~/kept; ln -s /oldroot${outside} ~/.cli`, { options });
    const { out } = await run("cat ~/kept ~/.cli/login", { options, access: { write: [workspace, login] } });
    expect(out).toBe("kept\nlogin");
    expect(readdirSync(outside)).toEqual([]);
    await run(`rm -rf ~/.cli; mv /home/agent /home/moved; ln -s /oldroot${outside} /home/agent`, { options });
    await run("true", { options, access: { write: [workspace, login] } });
    expect(readdirSync(outside)).toEqual([]);
  });

  test("is ended with everything it started, however it went about it", async () => {
    const mark = `54${process.pid}.7`;
    const abort = new AbortController();
    const ended = run(`setsid sleep ${mark} & nohup sleep ${mark} & echo ready; wait`, {
      request: { signal: abort.signal },
    });
    setTimeout(() => abort.abort(), 500);
    expect((await ended).end.cause).toBe("aborted");
    const running = readdirSync("/proc").filter(
      (pid) => /^\d+$/.test(pid) && existsSync(`/proc/${pid}/cmdline`) && commandOf(pid).includes(mark),
    );
    expect(running).toEqual([]);
  });

  test("leaves no folder of its sockets behind", async () => {
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith(`rr-sandbox-${process.pid}-`));
    await run("true", { access: { hosts: ["allowed.test:443"] } });
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`rr-sandbox-${process.pid}-`))).toEqual(before);
  });

  test("finds no call for the keys of the user's session", async () => {
    const { out } = await run(`perl -e 'print syscall(${process.arch === "arm64" ? 219 : 250}, 0, -3, 0), " $!"'`);
    expect(out).toMatch(/^-1 Function not implemented/);
  });

  test("reaches nothing of this machine and changes nothing of it, and may make no namespace of its own", async () => {
    const server = createServer((socket) => socket.end("reached"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    // The same script on the host reaches the server.
    const connect = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`;
    const here = await new Promise<string>((resolve) => execFile("bash", ["-c", connect], (_, out) => resolve(out)));
    const { out } = await run(
      `bash -c '${connect}' 2>/dev/null
      tail -n +3 /proc/net/dev | tr -d ' ' | cut -d: -f1
      for file in /made /usr/made /etc/made /dev/made; do touch $file 2>/dev/null && echo "made $file"; done
      findmnt -n -o OPTIONS /proc/sys | cut -d, -f1
      grep -E '^Cap(Eff|Prm|Bnd)' /proc/self/status | tr -d '\t'
      unshare --user true 2>/dev/null && echo nested
      echo end`,
    );
    server.close();
    expect(here).toBe("reached");
    const none = "0".repeat(16);
    expect(out.split("\n")).toEqual(["lo", "ro", `CapPrm:${none}`, `CapEff:${none}`, `CapBnd:${none}`, "end"]);
  });

  test("is started with its limits by the system's own program, whatever an agent has put before it", async () => {
    const own = join(workspace, "prlimit");
    writeFileSync(own, `#!/bin/sh\necho OURS`, { mode: 0o755 });
    const { out } = await run("ulimit -f", { request: { env: { PATH: `${workspace}:${sandboxPath}` } } });
    expect(out).toBe(String((2 * 2 ** 30) / 512));
  });

  test("runs beside others of its kind", async () => {
    const all = await Promise.all(
      ["a", "b", "c"].map((name) => run(`echo ${name}`, { access: { hosts: ["x.test:443"] } })),
    );
    expect(all.map(({ out }) => out)).toEqual(["a", "b", "c"]);
  });
});

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

test("without any bubblewrap the sentence says what to install", async () => {
  expect(await findBubblewrap({ PATH: "/nonexistent" })).toMatchObject({
    problem: "bubblewrap is not installed",
    fix: expect.stringContaining("apt install bubblewrap"),
  });
});
