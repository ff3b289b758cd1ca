import { describe, expect, it } from "vitest";
import { checkEvidence } from "../../../src/research/evidence/check.js";
import { readPdf } from "../../../src/engine/documents/pdf/read-pdf.js";
import { makePdf } from "../../fixtures/pdf/make-pdf.js";

const first =
  "Policies trained in simulation transfer to the physical gripper only when contact parameters are randomised broadly, including friction between 0.2 and 1.4.";
const second =
  "Across 600 physical trials the randomised policy succeeded in 87.5 percent, while the unrandomised baseline succeeded in 41.0 percent.";

async function paper() {
  const filler =
    "Further considerations regarding instrumentation follow without consequence for anything measured elsewhere.";
  const pages = [
    [filler, first, filler],
    [...Array.from({ length: 4 }, () => filler), second, filler],
  ];
  const read = await readPdf(await makePdf({ columns: 2, pages }));
  if (read.status !== "ok") throw new Error(read.reason);
  return read.text;
}

describe("checkEvidence", () => {
  it("verifies quotes of a two-column PDF, and says on which page each was found whatever the agent said", async () => {
    const text = await paper();
    const checked = checkEvidence(
      [
        { claim: "randomise widely", quote: first, locator: "p. 9" },
        { claim: "it doubles success", quote: second },
        { claim: "it triples success", quote: second.replace("87.5", "97.5"), locator: "p. 2" },
      ],
      text,
    );
    expect(checked.evidence.map(({ status, locator }) => [status, locator])).toEqual([
      ["verified", "p. 1"],
      ["verified", "p. 2"],
      ["not-in-text", null],
    ]);
    expect(checked).toMatchObject({ verified: 2, notInText: 1, couldNotCheck: 0 });
    expect(checked.evidence.every((item) => item.text_sha256 === text.sha256)).toBe(true);
    expect(checked.missing).toHaveLength(1);
    expect(checked.missing[0]?.nearest).toContain("87.5");
  });

  it("says of each quote that counts for nothing whether it is missing or too short", async () => {
    const { evidence, missing } = checkEvidence(
      [
        { claim: "it was measured", quote: "600 physical" },
        { claim: "it triples success", quote: second.replace("87.5", "97.5") },
      ],
      await paper(),
    );
    expect(evidence.map(({ status }) => status)).toEqual(["not-in-text", "not-in-text"]);
    expect(missing.map(({ why }) => why)).toEqual(["too short to be evidence", "not found in the text"]);
  });

  it("counts a quote once, however many claims it stands under and however it is spaced", async () => {
    const invented = second.replace("87.5", "97.5");
    const quotes = [
      first,
      `“${first}”`,
      first.toUpperCase(),
      first.replaceAll(" ", "\n"),
      second,
      invented,
      ` ${invented}`,
    ];
    const items = quotes.map((quote, index) => ({ claim: `claim ${index}`, quote }));
    const checked = checkEvidence(items, await paper());
    expect(checked).toMatchObject({ verified: 2, notInText: 1, couldNotCheck: 0 });
    expect(checked.missing).toHaveLength(1);
    expect(checked.evidence.map(({ claim }) => claim)).toEqual(items.map(({ claim }) => claim));
    expect(checkEvidence(items, undefined)).toMatchObject({ couldNotCheck: 3 });
  });

  it("calls nothing false without a text", () => {
    const checked = checkEvidence([{ claim: "a", quote: "anything at all", locator: "p. 3" }], undefined);
    expect(checked).toEqual({
      evidence: [{ claim: "a", quote: "anything at all", status: "could-not-check", locator: "p. 3" }],
      verified: 0,
      notInText: 0,
      couldNotCheck: 1,
      missing: [],
    });
  });
});
