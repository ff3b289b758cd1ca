import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { blockReason } from "../../../src/assistant/tools/shell/blocked-commands.js";
import { isAtWork } from "../../support/processes/alive.js";
import { bench } from "../../assistant/tools/setup.js";

const here = bench();
const run = async (command: string, more: object = {}, signal?: AbortSignal) =>
  await here.call("shell_execute", { command, ...more }, signal);

describe("a command that is not run", () => {
  it.each([
    "rm -rf /",
    "rm -rf /*",
    "rm  -r -f /*",
    "rm -fr //",
    "rm -Rf '/'",
    'rm -rf "/"',
    "rm --recursive --force /",
    "rm -r --no-preserve-root /",
    "cd /tmp && rm -rf /",
    "true; rm -rf / &",
    "(rm -rf /)",
    "if true; then rm -rf /; fi",
    "sudo rm -rf /",
    "sudo -u root rm -rf /",
    "env A=b /bin/rm -rf /",
    "A=b rm -rf /",
    "nohup timeout -s KILL 5 rm -rf /",
    "sh -c 'rm -rf /'",
    'bash -lc "rm -rf /"',
    "eval rm -rf /",
    "echo $(rm -rf /)",
    'echo "$(rm -rf /)"',
    "echo `rm -rf /`",
    "r\\m -rf /",
    "rm -rf ~",
    "rm -rf $HOME",
    "rm -rf ${HOME}/*",
    "rm -rf /usr",
    "echo x | xargs rm -rf /",
    "find / -delete",
    "mkfs.ext4 /dev/sda1",
    "/sbin/mkfs -t ext4 /dev/sda1",
    "dd if=/dev/zero of=/dev/sda",
    "dd bs=1M if=a of=b",
    "cat image > /dev/sda",
    "echo x >>/dev/nvme0n1",
    ":(){ :|:& };:",
    "bomb() { bomb | bomb & }; bomb",
    "function f { f|f& }; f",
    "chmod -R 777 /",
    "chmod 777 -R /*",
    "chown --recursive me /",
    "rd /s /q c:\\\\",
    ...[
      "cd / && rm -rf *",
      "cd /; rm -rf ./*",
      "cd / && rm -rf usr",
      "cd ~; rm -rf .",
      "(cd / && rm -rf *)",
      "pushd /; rm -rf .",
    ],
    ...[
      "rm -rf /{bin,usr}",
      "rm -rf /{,*}",
      "rm -rf {/,x}",
      "rm -rf /u*",
      "rm -rf /?*",
      "rm -rf /[a-z]*",
      "rm -rf ~/.*",
      "rm -rf ~/*/",
    ],
    ...[
      "rm -rf ${HOME:?}",
      'rm -rf "${HOME:?}/"',
      "rm -rf ${HOME:-/x}",
      "rm -rf ${UNSET:-/}",
      "rm -rf $UNSET/*",
      'rm -rf "$UNSET"/',
      "rm -rf ~root",
    ],
    ...[
      "X=/; rm -rf $X",
      'X=/ && rm -rf "$X"',
      "export D=/usr; rm -rf $D",
      "for d in /bin /usr; do rm -rf $d; done",
      "D='/etc /usr'; rm -rf $D",
    ],
    ...[
      "rm -rf /./",
      "rm -rf /usr/..",
      "rm -rf /tmp/../",

      "rm -rf $(pwd)/..",
      "rm -rf $(echo /)",
      "rm -rf /$(date)",
    ],
    ...[
      "rm --recurs /",
      "rm -f -- -x / -r",
      "rm -r -- /",
      "rm / -rf",
      "rm -rf $'/'",
      "rm -rf $'\\x2f'",
      "rm -rf /proc/self/root",
      "'rm' -rf /",
      "/bin/rm -rf /usr/bin",
    ],
    ...[
      "find / -type f -delete",
      "find ~ -exec rm {} +",
      "cd / && find -delete",
      "find / | xargs rm -rf",
      "ls / | xargs rm -rf /",
      "echo / | xargs rm -rf",
    ],
    ...[
      "mv / /tmp/x",
      "mv ~ /tmp",
      "mv /* /tmp/x",
      "rsync -a --delete empty/ /",
      "chmod -R 000 ~",
      "chown -R me: /etc",
      "chmod --recurs 777 /usr",
    ],
    ...[
      "tee /dev/sda < x",
      "sudo tee /dev/sda",
      "cp image /dev/nvme0n1",
      "shred /dev/sda",
      "wipefs -a /dev/sda",
      "dd of=/dev/sdb",
      "npx rimraf /",
    ],
    ...[
      "su -c 'rm -rf /'",
      "echo 'rm -rf /' | sh",
      "sh <<< 'rm -rf /'",
      "bash <<EOF\nrm -rf /\nEOF",
      "ssh host 'rm -rf /'",
      "watch 'rm -rf ~'",
    ],
    ...[
      `python3 -c "import shutil; shutil.rmtree('/')"`,
      `node -e "fs.rmSync('/usr', {recursive:true})"`,
      `perl -e 'system("rm -rf /")'`,
    ],
    ...[
      "command rm -rf /",
      "exec rm -rf /",
      "time nice -n 5 rm -rf /",
      "flock x rm -rf /",
      "chroot / rm -rf /",
      "! rm -rf /",
      "{ rm -rf /; }",
      "f() { rm -rf /; }; f",
    ],
  ])("%s", async (command) => {
    expect(await run(command)).toMatchObject({ success: false, code: "SHELL_ERROR_BLOCKED" });
    // Nobody is asked to allow it.
    expect(here.asked).toEqual([]);
  });
});

it("holds a command against the folder that it would run in", () => {
  const where = { cwd: "/srv/data/me/proj", env: { HOME: "/srv/data/me" } };
  for (const command of [
    "rm -rf ..",
    "rm -rf ../*",
    "rm -rf $PWD/../..",
    "cd .. && rm -rf *",
    "rm -rf $HOME/.??*",
    "rm -rf ~/?*",
  ])
    expect(blockReason(command, where), command).toBe("it deletes everything");
  for (const command of [
    "rm -rf ../other",
    "rm -rf $PWD/*",
    "rm -rf ~/.cache",
    "rm -rf ~/old-*",
    "cd sub; rm -rf ../out",
  ])
    expect(blockReason(command, where), command).toBeUndefined();
});

describe("a command that looks like one, and is none", () => {
  it.each([
    "rm -rf ./x",
    "rm -rf build/*",
    "rm -r /tmp/x",
    "rm /tmp/a",
    "echo 'rm -rf /'",
    'git commit -m "never rm -rf / again"',
    "# rm -rf /",
    "grep -r mkfs .",
    "ls / # rm",
    "chmod -R u+w ./out",
    "chmod 644 /tmp/x",
    "echo if=x",
    "add if=x",
    "cat a > /dev/null 2>&1",
    "find . -name '*.tmp' -delete",
    "f() { g | h & }; f",
    "a | b & c",
    ...[
      "cd build && rm -rf *",
      "(cd /usr && ls); rm -rf x",
      "rm -rf *",
      "rm -rf ./*",
      "rm -rf node_modules dist",
      "rm -rf ${DIR:-build}",
      "rm -rf '*'",
    ],
    ...[
      "rm -rf /tmp/*",
      "rm -rf {a,b}/out",
      "X=build; rm -rf $X/*",
      "for d in a b; do rm -rf $d; done",
      "rm -rf $(pwd)/out",
      "rm -rf /opt/tool/cache",
    ],
    ...[
      "mv a b",
      "mv a ../b",
      "rsync -a --delete src/ out/",
      "find . -type f -exec wc -l {} +",
      "find / -name x",
      "ls / | xargs -n1 echo",
      "grep -rf /x y",
    ],
    ...[
      "man mkfs",
      "echo rm -rf /",
      "printf '%s' 'rm -rf /' > notes",
      "grep -r 'rm -rf /' .",
      "chmod -R 755 out",
      "cp a b",
      "dd of=out count=1",
    ],
    ...[
      `python3 -c "print('/')"`,
      "node -e 'console.log(1)'",
      "sh build.sh",
      "npx rimraf dist",
      "sudo systemctl restart x",
      "git rm -r old",
      "docker rm -f x",
    ],
  ])("%s", (command) => {
    expect(blockReason(command)).toBeUndefined();
  });

  it("runs", async () => {
    mkdirSync(join(here.root, "x"));
    expect(await run("rm -rf ./x")).toMatchObject({ success: true, exit_code: 0 });
    expect(existsSync(join(here.root, "x"))).toBe(false);
  });
});

describe("shell_execute", () => {
  it("answers with what the command wrote, in the folder that was named", async () => {
    mkdirSync(join(here.root, "sub"));
    expect(await run("pwd; echo oops >&2", { working_directory: "sub" })).toMatchObject({
      success: true,
      code: "SHELL_SUCCESS",
      exit_code: 0,
      stdout: `${join(here.root, "sub")}\n`,
      stderr: "oops\n",
    });
    expect(await run("echo oops >&2", { capture_stderr: false })).not.toHaveProperty("stderr");
  });

  it("tells how a command failed, with what it wrote", async () => {
    expect(await run("echo half; exit 3")).toMatchObject({
      success: false,
      code: "SHELL_ERROR_FAILED",
      exit_code: 3,
      stdout: "half\n",
    });
  });

  it("ends a command that takes too long, with all that it started", async () => {
    const answer = await run("sleep 300 & echo $! > started; sleep 300", { timeout_seconds: 1 });
    expect(answer).toMatchObject({ success: false, code: "SHELL_ERROR_TIMEOUT" });
    const started = Number(readFileSync(join(here.root, "started"), "utf8"));
    expect(started).toBeGreaterThan(0);
    while (isAtWork(started)) await sleep(20);
  });

  it("ends a command when the person stops the answer, and answers at once", async () => {
    const stop = new AbortController();
    const ended = run("echo begun > begun; sleep 30; echo more > more", {}, stop.signal);
    while (!existsSync(join(here.root, "begun"))) await sleep(20);
    stop.abort();
    expect(await ended).toMatchObject({ success: false, code: "TOOL_ERROR_INTERRUPTED" });
  });

  it("shows no secret of the environment, and no more than its room", async () => {
    const answer = await run('echo "$DEPLOY_TOKEN"; yes line | head -n 1000000');
    expect(answer).toMatchObject({ success: true });
    const shown = String(answer["stdout"]);
    expect(shown).not.toContain("secret-0123456789");
    expect(shown).toContain("[secret removed]");
    expect(shown.length).toBeLessThan(40_000);
    expect(shown).toContain("left out");
  });

  it.each([
    [{ command: "x".repeat(8193) }, "SHELL_ERROR_TOO_LONG"],
    [{ command: "echo a\0b" }, "SHELL_ERROR_BLOCKED"],
    [{ command: "ls", timeout_seconds: 301 }, "TOOL_ERROR_INVALID_ARGUMENTS"],
    [{ command: "ls", working_directory: "none" }, "FILE_ERROR_NOT_FOUND"],
    [{ command: "" }, "TOOL_ERROR_INVALID_ARGUMENTS"],
  ])("refuses %j", async (given, code) => {
    expect(await here.call("shell_execute", given)).toMatchObject({ success: false, code });
  });

  it("tells that no shell could be started", async () => {
    Object.assign(here.context, {
      // oxlint-disable-next-line require-yield -- it never comes to say anything
      exec: async function* () {
        return { cause: "not-started", stderr: "", startError: { message: "spawn ENOENT" } };
      },
    });
    expect(await run("ls")).toMatchObject({ success: false, code: "SHELL_ERROR_NOT_STARTED" });
  });
});

describe("the question before a call that writes or runs", () => {
  it("is asked each time after a yes, and not after an always", async () => {
    await run("echo 1");
    await run("echo 1");
    expect(here.asked).toMatchObject([
      { tool: "shell_execute", args: { command: "echo 1" }, preview: "$ echo 1" },
      { tool: "shell_execute" },
    ]);
    here.answer = "always";
    await run("echo 1");
    await run("echo 1");
    expect(here.asked).toHaveLength(3);
    // Another command is another matter.
    await run("echo 2");
    expect(here.asked).toHaveLength(4);
  });

  it("lets nothing happen after a no", async () => {
    here.answer = "no";
    expect(await run("touch x")).toMatchObject({ success: false, code: "TOOL_ERROR_NOT_ALLOWED" });
    expect(await here.call("file_write", { file_path: "x", content: "" })).toMatchObject({
      code: "TOOL_ERROR_NOT_ALLOWED",
    });
    expect(existsSync(join(here.root, "x"))).toBe(false);
  });

  it("is not asked before a call that reads or remembers", async () => {
    writeFileSync(join(here.root, "a"), "text");
    await here.call("file_read", { file_path: "a" });
    await here.call("remember", { content: "staging is hermes" });
    await here.call("TodoWrite", { todos: [] });
    expect(here.asked).toEqual([]);
  });

  it("shows no escape sequence of a model's", async () => {
    await run("echo \u001b[2J");
    expect(here.asked[0]?.preview).not.toContain("\u001b");
  });
});
