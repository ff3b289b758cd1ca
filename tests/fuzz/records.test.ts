import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ExpectedError } from "../../src/engine/lib/errors.js";
import { readRecords } from "../../src/research/papers/records/read-records.js";
import fc, { anyText } from "../support/runner/fast-check.js";
import { cases } from "./mutations.js";

const whole: Readonly<Record<string, string>> = {
  ris: "TY  - JOUR\r\nTI  - On touch\r\nAU  - Lee, Ann\r\nPY  - 2020/05/01\r\nDO  - 10.1000/x\r\nER  - \r\n",
  nbib: "PMID- 1\nTI  - On touch\n      again.\nFAU - Lee, Ann\nDP  - 2020 Jan\nLID - 10.1000/x [doi]\n\n",
  ciw: "PT J\nAU Lee, A\n   Kim, B\nTI On touch\nPY 2020\nDI 10.1000/x\nER\n\nEF\n",
  enw: "%0 Journal Article\n%T On touch\n%A Lee, Ann\n%D 2020\n\n",
  bib: '@string{j = "J"}\n@article{k, title = {On {T}ouch $x^2$ \\"o}, author = {Lee, Ann and Kim, B.}, journal = j # {x}, year = 2020}\n',
  xml: '<xml><records><record><ref-type name="Book">1</ref-type><contributors><authors><author>Lee, Ann</author></authors></contributors><titles><title><style>On touch</style></title></titles></record></records></xml>',
  json: '[{"id":"a","type":"book","title":"On touch","author":[{"family":"Lee"}],"issued":{"date-parts":[["2020",5]]}}]',
  csv: 'Title,Authors,Year,DOI\n"On touch, again","Lee, Ann; Kim, B",2020,10.1000/x\n',
};
const signs = [
  "{",
  "}",
  "\\",
  "$",
  '"',
  "@",
  "=",
  ",",
  "#",
  "%",
  "\n",
  "\r",
  "  - ",
  "- ",
  ";",
  "<",
  "&",
  "\u0000",
  "\ufeff",
  "TY  - ",
  "ER  - ",
  "@article{",
];

/** A file of the format with pieces of any text put in, taken out, doubled and moved. */
const damaged = (text: string, twice: boolean) =>
  fc
    .array(
      fc.tuple(
        fc.nat(),
        fc.nat({ max: 12 }),
        fc.oneof(
          fc.constantFrom(...signs),
          anyText({ maxLength: 8 }),
          fc.nat().map((at) => text.slice(at % text.length, (at % text.length) + 20)),
        ),
      ),
      { maxLength: 6 },
    )
    .map((slips) =>
      slips.reduce(
        (changed, [at, length, put]) => {
          const place = changed.length === 0 ? 0 : at % changed.length;
          return changed.slice(0, place) + put + changed.slice(place + length);
        },
        twice ? text + text : text,
      ),
    );

const folder = mkdtempSync(join(tmpdir(), "rr-fuzz-records-"));

describe("readers of records", () => {
  it.each(Object.entries(whole))(
    "read a damaged .%s file, or refuse it with a sentence",
    async (ending, text) => {
      let readable = 0;
      await fc.assert(
        fc.asyncProperty(damaged(text, ending !== "xml" && ending !== "json"), async (content) => {
          const path = join(folder, `a.${ending}`);
          writeFileSync(path, content);
          try {
            for (const entry of (await readRecords(path)).entries) {
              readable += 1;
              expect(entry.title).toMatch(/\S/);
              expect(entry.date ?? "2020").toMatch(
                /^(?:1[4-9]|20)\d\d(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?$/,
              );
              expect(JSON.parse(JSON.stringify(entry))).toEqual(entry);
            }
          } catch (error) {
            if (!(error instanceof ExpectedError)) throw error;
            expect(error.message).toMatch(/^\S.*\.$/s);
          }
        }),
        { numRuns: cases(0.2) },
      );
      // Else only refusals were looked at.
      expect(readable).toBeGreaterThan(0);
    },
    600_000,
  );
});
