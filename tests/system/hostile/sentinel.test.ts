import { describe, test } from "vitest";
import { useBuiltCli } from "./support/built.js";
import { fakeCli } from "./support/fake-cli.js";

const house = useBuiltCli();

describe.concurrent("with work pending the sentinel ends nothing, however it is said; only alone on a line of the last words is it a claim", () => {
  test.for([
    ["alone", "false-claim"],
    ["bold", "false-claim"],
    ["fenced", "false-claim"],
    ["mid-sentence", undefined],
    ["refuses", undefined],
    ["quotes-the-brief", undefined],
    ["in-an-earlier-message", undefined],
    ["nowhere", undefined],
  ] as const)("%s: %s", async ([mode, claim], { expect }) => {
    const { run, ledger, paper, rrd, problems, left } = house();
    const { code, out, verdict } = await run(`sentinel.mjs ${mode}`, "-i", "1");
    expect({ code, verdict }).toMatchObject({ code: 3, verdict: { verdict: "limit" } });
    expect(out.split("\n").filter((line) => line === "<promise>COMPLETE</promise>")).toEqual([]);
    expect(ledger()).toHaveLength(1);
    expect(ledger()[0]).toMatchObject({ unit: "first", outcome: "accepted" });
    expect(ledger()[0]?.sentinel).toBe(claim);
    expect(rrd().phase).toBe("ANALYSIS");
    expect([paper("first")?.status, paper("second")?.status]).toEqual(["presented", "pending"]);
    expect(problems()).toEqual([]);
    expect(left()).toEqual([]);
  });

  test("without any work: refused like any empty result", async ({ expect }) => {
    const { run, ledger, paper } = house();
    const { code } = await run("sentinel.mjs without-work", "-i", "1");
    expect(code).toBe(3);
    expect(ledger()).toMatchObject([
      { outcome: "refused", reasons: [expect.stringContaining("result.json was not written")] },
    ]);
    expect(paper("first")?.status).toBe("pending");
  });
});

describe.concurrent("when the files prove that all is done, the run is complete with and without the sentinel, and the ledger says which", () => {
  test.for([
    ["nowhere", "absent"],
    ["refuses", "absent"],
    ["mid-sentence", "absent"],
    ["bold", "seen"],
  ] as const)("%s: %s", async ([mode, sentinel], { expect }) => {
    const { run, ledger, rrd, left } = house();
    const { code, out } = await run(`sentinel.mjs ${mode}`, "--plain");
    expect({ code, out }).toEqual({ code: 0, out: "<promise>COMPLETE</promise>\n" });
    expect(ledger().map(({ unit, outcome }) => `${unit} ${outcome}`)).toEqual([
      "first accepted",
      "second accepted",
      "report accepted",
    ]);
    expect(ledger().at(-1)?.sentinel).toBe(sentinel);
    expect(rrd().phase).toBe("COMPLETE");
    expect(left()).toEqual([]);
  });
});

describe.concurrent("of a stream only the final message counts: no earlier one, no tool's result, no echo of the brief", () => {
  test.for(
    ["claude", "codex", "amp"].flatMap((protocol) =>
      (
        [
          ["sentinel-in-an-earlier-message", undefined],
          ["sentinel-in-a-tool-result", undefined],
          ["sentinel-at-the-end", "false-claim"],
        ] as const
      ).map(([mode, claim]) => [protocol, mode, claim] as const),
    ),
  )("%s, %s: %s", async ([protocol, mode, claim], { expect }) => {
    const { run, ledger, left } = house(fakeCli(protocol, mode));
    const { code } = await run(protocol, "-i", "1");
    expect(code).toBe(3);
    expect(ledger()).toMatchObject([{ unit: "first", outcome: "accepted", agent: protocol }]);
    expect(ledger()[0]?.sentinel).toBe(claim);
    expect(left()).toEqual([]);
  });
});
