import { setFlagsFromString } from "node:v8";
import { setImmediate as turn } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { openDocument } from "../../../../src/text/documents/pdf/open-document.js";
import { rawPdf, textAt } from "../../../fixtures/pdf/raw-pdf.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

test("nothing of a page is kept once it is read, while the document stays open", async () => {
  const { document, stopAtExcess } = await openDocument(rawPdf({ pages: [textAt("A page.", 60, 700)] }));
  const read = async () => {
    const drawing = { of: "a page" };
    expect(await stopAtExcess(Promise.resolve(drawing))).toBe(drawing);
    return new WeakRef(drawing);
  };
  const kept = await Promise.all(Array.from({ length: 20 }, read));
  await turn();
  collect();
  expect(kept.filter((drawing) => drawing.deref() !== undefined).length).toBeLessThan(2);
  await document.destroy();
});

test("what fails on a page fails for the reader of the page", async () => {
  const { document, stopAtExcess } = await openDocument(rawPdf({ pages: [textAt("A page.", 60, 700)] }));
  await expect(stopAtExcess(Promise.reject(new Error("The page is damaged.")))).rejects.toThrow("damaged");
  await document.destroy();
});
