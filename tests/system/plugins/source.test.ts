import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { noBubblewrap, skippedFor } from "../../support/processes/bubblewrap.js";
import { cli as built } from "../../support/processes/built-cli.js";
import { cli } from "../../support/processes/in-process.js";
import { freshFolder } from "../../support/projects/research-folder.js";
import { dblpAnswer } from "../../fixtures/services/dblp.js";
import { listener } from "./support.js";

const plugin = packageFile("docs", "plugins", "dblp.mjs");
const dblp = { name: plugin, allow: { hosts: ["dblp.org:443"] } };

/** A folder whose configuration has these plugins, and DBLP at an address of this machine. */
function folderWith(plugins: readonly object[], endpoint?: string, more: object = {}): string {
  const cwd = freshFolder();
  const sources = endpoint === undefined ? {} : { sources: { dblp: { endpoint, interval_ms: 0 }, ...more } };
  writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ plugins, ...sources }));
  return cwd;
}

describe.skipIf(noBubblewrap !== undefined)(`a source of a plugin${skippedFor(noBubblewrap)}`, () => {
  test("is searched by name, page by page, and its records are those of any source", async () => {
    const service = await listener((path) => dblpAnswer(path, 130));
    const cwd = folderWith([dblp], service.address);
    const { code, out } = await cli(["search", "tactile sensing", "--source", "DBLP", "--limit", "120", "--json"], cwd);
    expect(code).toBe(0);
    const { sources, results } = JSON.parse(out);
    expect(sources).toEqual([{ source: "dblp", status: "ok", results: 120 }]);
    expect(results.find(({ title }: { title: string }) => title.endsWith("part 1"))).toMatchObject({
      title: "Tactile sensing & robot hands, part 1",
      authors: ["Bo Li", "Cy Ng"],
      date: "2021",
      venue: "ICRA, CoRL",
      identifiers: { doi: "10.1000/dblp.1" },
      url: "https://dblp.org/rec/conf/x/1",
    });
    expect(service.heard.map(({ path }) => path)).toEqual([
      "/search/publ/api?q=tactile+sensing&format=json&c=0&h=100&f=0",
      "/search/publ/api?q=tactile+sensing&format=json&c=0&h=100&f=100",
    ]);
    // From the cache: nothing is asked a second time.
    await cli(["search", "tactile sensing", "--source", "dblp", "--limit", "120"], cwd);
    expect(service.heard).toHaveLength(2);
    expect((await cli(["search", "x", "--source", "dbl"], cwd)).err).toContain("the nearest one is 'dblp'");
    const years = ["--from", "2023", "--until", "2023", "--json"];
    const dated = JSON.parse((await cli(["search", "tactile", "--source", "dblp", ...years], cwd)).out);
    expect(new Set(dated.results.map(({ date }: { date: string }) => date))).toEqual(new Set(["2023"]));
  });

  test("is a project's source: in its log, its flow and its replay, and blocked where it refuses", async () => {
    let isOpen = true;
    const service = await listener((path) => {
      if (isOpen) return dblpAnswer(path, 12);
      return "not what was asked for";
    });
    const cwd = folderWith([dblp], service.address);
    expect(
      (await cli(["new", "tactile sensing of robot hands", "--source", "dblp", "-p", "3", "--no-git"], cwd)).code,
    ).toBe(0);
    const [name = ""] = readdirSync(join(cwd, "researches"));
    const folder = join(cwd, "researches", name);
    const run = await cli(["run", "-i", "1", "--agent", "baseline", "--no-git", "--json"], cwd);
    const events = run.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.some(({ type, source }) => type === "searching" && source === "dblp")).toBe(true);
    const rrd = JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8"));
    expect(rrd.requirements.sources).toEqual(["dblp"]);
    expect(rrd.papers_pool[0]).toMatchObject({ source: "dblp", identifiers: { doi: expect.stringMatching(/dblp/) } });
    expect(JSON.stringify(rrd.statistics)).toContain("dblp");
    const log = readFileSync(join(folder, "queries.jsonl"), "utf8");
    expect(JSON.parse(log.split("\n")[0] ?? "")).toMatchObject({ source: "dblp", status: "ok", from: "network" });
    const asked = service.heard.length;
    const replay = await cli(["replay", name], cwd);
    expect({ code: replay.code, out: replay.out }).toMatchObject({
      code: 0,
      out: expect.stringContaining("identical"),
    });
    expect(service.heard).toHaveLength(asked);

    isOpen = false;
    const again = await cli(["search", "other words", "--source", "dblp"], cwd);
    expect([again.code, again.err]).toEqual([5, expect.stringContaining("dblp failed: The plugin")]);

    // Without the plugin everything else goes on, and the search is replayed from its records.
    writeFileSync(join(cwd, "ralph.config.json"), "{}");
    expect((await built(["status", name], cwd)).code).toBe(0);
    expect((await built(["replay", name], cwd)).out).toContain("From the records");
    rmSync(join(folder, "search-records.json.gz"));
    expect((await built(["replay", name], cwd)).err).toContain("There is no source 'dblp' any more.");
  });

  test("is one of blocked_sources once it failed three times in a row, and another is searched in its place", async () => {
    const broken = await listener(() => "not what was asked for");
    const openalex = await listener(() => JSON.stringify({ meta: { count: 0 }, results: [] }));
    const cwd = folderWith([dblp], broken.address, { openalex: { endpoint: openalex.address, interval_ms: 0 } });
    await cli(["new", "tactile sensing of robot hands", "--source", "dblp", "-p", "3", "--no-git"], cwd);
    const [name = ""] = readdirSync(join(cwd, "researches"));
    const { err } = await cli(["run", "-i", "4", "--agent", "baseline", "--no-git"], cwd);
    const file = (each: string) => readFileSync(join(cwd, "researches", name, each), "utf8");
    const { blocked_sources, statistics } = JSON.parse(file("rrd.json"));
    expect(blocked_sources).toEqual([{ name: "dblp", reason: expect.stringContaining("is not valid JSON") }]);
    expect(statistics.discovery_metrics.failures_in_a_row).toEqual({ dblp: 3, OpenAlex: 0 });
    expect(file("progress.txt")).toContain("- dblp is blocked from now on (");
    expect(openalex.heard.length).toBeGreaterThan(0);
    expect(err).toContain("OpenAlex: nothing found");
  });

  test("is not asked at a host that is not allowed, under a name that is taken, or by a path that leads elsewhere", async () => {
    const service = await listener();
    const written = (id: string, path: string) =>
      `export default { name: "s", version: "1", sources: [{ id: "${id}", endpoint: "${service.address}", search: () => ({ path: "${path}" }), read: () => ({ records: [{ title: 1 }] }) }] };`;
    const cwd = freshFolder();
    const search = async (id: string, path: string, hosts: readonly string[]) => {
      writeFileSync(join(cwd, "s.mjs"), written(id, path));
      writeFileSync(
        join(cwd, "ralph.config.json"),
        JSON.stringify({ plugins: [{ name: "./s.mjs", allow: { hosts } }] }),
      );
      return (await cli(["search", "x", "--source", id, "--limit", "1"], cwd, { RESEARCH_RALPH_PATIENCE_MINUTES: "1" }))
        .err;
    };
    expect(await search("one", "/x", [])).toContain(`add ${service.host} to allow.hosts`);
    expect(await search("arxiv", "/x", [service.host])).toContain("a built-in source already has this name");
    expect(await search("three", "@elsewhere.example/x", [service.host])).toContain("not valid");
    expect(service.heard).toEqual([]);
  });
});
