import type { Rrd } from "../../research/generated/rrd.js";
import type { CitedWork, TracedRecord } from "../../research/papers/export/cited-work.js";

/** Makes one text from the records of a project, or from its PRISMA flow. */
type WriteRecords = (rrd: Rrd, records: readonly TracedRecord[]) => string;

interface ExportFormat {
  /** The programs that read it, for messages. */
  readonly readers: string;
  /** Without the dot. */
  readonly fileExtension: string;
  /** True if the format counts all records, so --only can't be used with it. */
  readonly needsAllRecords?: boolean;
  /** Loads a function that makes lines for people. On a terminal, they are printed instead of the text. */
  readonly loadTerminalLines?: () => Promise<(rrd: Rrd) => readonly string[]>;
  /** Loads the writer when it is needed, so that the program starts fast. */
  readonly loadWriter: () => Promise<WriteRecords>;
}

/** A format of the list of references. Its writer gets works instead of records. `readers`: who reads it. */
const referenceFormat = (
  readers: string,
  ending: string,
  load: () => Promise<(works: readonly CitedWork[]) => string>,
): ExportFormat => ({
  readers,
  fileExtension: ending,
  loadWriter: async () => {
    const [write, { citedWorks }] = await Promise.all([load(), import("../../research/papers/export/cited-work.js")]);
    return (_, records) => write(citedWorks(records));
  },
});

/** The formats of `report --as`, by name. A new format needs only an entry here. */
export const exportFormats: Readonly<Record<string, ExportFormat>> = {
  ris: referenceFormat(
    "reference managers",
    "ris",
    async () => (await import("../../research/papers/export/ris.js")).risOf,
  ),
  bibtex: referenceFormat(
    "LaTeX and JabRef",
    "bib",
    async () => (await import("../../research/papers/export/bibtex.js")).bibtexOf,
  ),
  csl: referenceFormat(
    "pandoc and Zotero",
    "json",
    async () => (await import("../../research/papers/export/csl.js")).cslOf,
  ),
  csv: {
    readers: "spreadsheets",
    fileExtension: "csv",
    loadWriter: async () => {
      const [{ recordsAsCsv }, { formColumns }] = await Promise.all([
        import("../../research/papers/export/csv.js"),
        import("../../research/units/form/columns.js"),
      ]);
      return (rrd, records) => recordsAsCsv(rrd, records, formColumns(rrd));
    },
  },
  prisma: {
    readers: "R, whose package PRISMA2020 draws the flow",
    fileExtension: "flow.csv",
    needsAllRecords: true,
    loadTerminalLines: async () => {
      const { flowLines, prismaFlow } = await import("../../research/report/prisma-flow.js");
      return (rrd) => flowLines(prismaFlow(rrd));
    },
    loadWriter: async () => {
      const [{ prismaCsv }, { prismaFlow }] = await Promise.all([
        import("../../research/papers/export/prisma.js"),
        import("../../research/report/prisma-flow.js"),
      ]);
      return (rrd) => {
        const { counts, reasons, otherReasons, steps } = prismaFlow(rrd);
        return prismaCsv({ counts, reasons, otherReasons, sources: steps[0]?.box.lines ?? [] });
      };
    },
  },
};
