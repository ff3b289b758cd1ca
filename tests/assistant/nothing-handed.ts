import type { ProgramServices } from "../../src/assistant/tools/context.js";
import { readDocument } from "../../src/text/documents/read-document.js";

/** What the assistant has of the other wings where a test needs none: no tools, no network. */
export const nothingHanded: ProgramServices = {
  tools: async () => [],
  briefTools: async () => [],
  http: async () => ({ get: async () => ({ status: "error", reason: "There is no network." }) }),
  readDocument: async (bytes, hints) => await readDocument(bytes, hints),
};

/** The same for `main`. */
export const outsideAlone = { servicesFor: () => nothingHanded };
