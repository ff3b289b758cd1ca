import type { Rrd } from "../../research/generated/rrd.js";
import type { CitedWork, TracedRecord } from "../../research/papers/export/cited-work.js";

/** Writes the records of a project, or its flow, as one text. */
type WriteRecords = (rrd: Rrd, records: readonly TracedRecord[]) => string;

interface ExportFormat {
  /** Who reads it. */
  readonly reader: string;
  /** Of the names of its files, without a dot. */
  readonly ending: string;
  /** Whether it counts all records, so that none may be left out. */
  readonly needsAll?: boolean;
  /** On a terminal, this is printed in place of the text: lines for people. */
  readonly lines?: () => Promise<(rrd: Rrd) => readonly string[]>;
  /** Loads the writer, which the start of the program does not wait for. */
  readonly load: () => Promise<WriteRecords>;
}

/** A format for reference managers, whose writer takes the works that the records stand for. */
const ofWorks = (ending: string, load: () => Promise<(works: readonly CitedWork[]) => string>): ExportFormat => ({
  reader: "reference managers",
  ending,
  load: async () => {
    const [write, { citedWorks }] = await Promise.all([load(), import("../../research/papers/export/cited-work.js")]);
    return (_, records) => write(citedWorks(records));
  },
});

/** The formats of `report --as` by name, an entry each; a new one needs nothing else. */
export const exportFormats: Readonly<Record<string, ExportFormat>> = {
  ris: ofWorks("ris", async () => (await import("../../research/papers/export/ris.js")).risOf),
  bibtex: ofWorks("bib", async () => (await import("../../research/papers/export/bibtex.js")).bibtexOf),
  csl: ofWorks("json", async () => (await import("../../research/papers/export/csl.js")).cslOf),
  csv: {
    reader: "spreadsheets",
    ending: "csv",
    load: async () => {
      const [{ recordsAsCsv }, { formColumns }] = await Promise.all([
        import("../../research/papers/export/csv.js"),
        import("../../research/units/form/columns.js"),
      ]);
      return (rrd, records) => recordsAsCsv(rrd, records, formColumns(rrd));
    },
  },
  prisma: {
    reader: "R, whose package PRISMA2020 draws the flow",
    ending: "flow.csv",
    needsAll: true,
    lines: async () => {
      const { flowLines, prismaFlow } = await import("../../research/report/prisma-flow.js");
      return (rrd) => flowLines(prismaFlow(rrd));
    },
    load: async () => {
      const [{ prismaCsv }, { prismaFlow: flowOf }] = await Promise.all([
        import("../../research/papers/export/prisma.js"),
        import("../../research/report/prisma-flow.js"),
      ]);
      return (rrd) => {
        const { counts, reasons, otherReasons, steps } = flowOf(rrd);
        return prismaCsv({ counts, reasons, otherReasons, sources: steps[0]?.box.lines ?? [] });
      };
    },
  },
};
