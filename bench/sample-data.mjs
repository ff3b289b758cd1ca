// A few made-up papers in the place of recorded data: rows that measure on `--data` are rehearsed on them. They tell
// nothing of how well anything works.
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./measure.mjs";

const subjects = ["Grip strength", "Walking speed", "Reaction time", "Finger reach", "Sleep quality", "Heart rate"];

/** Of the sample paper below. */
const sentenceOfSample =
  "A teacher that sees the full state of the simulator is distilled into a student that sees one depth image.";

const csv = (header, rows) =>
  [header, ...rows].map((row) => row.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(",")).join("\n");

/** Writes into `folder` what the rows look for in theirs: articles with marked quotes, a PDF, labelled records. */
export function writeSampleData(folder) {
  for (const name of ["nxml", "txt"]) mkdirSync(join(folder, name));
  const quotes = subjects.map((subject, index) => {
    const id = String(7_000_000 + index);
    const quote = `${subject} was ${index + 12} percent higher in the group that trained for ${index + 3} weeks.`;
    const body = `We asked ${40 + index} adults to train with a soft glove at home. ${quote} No harm was seen in any of them.`;
    writeFileSync(join(folder, `nxml/PMC${id}.nxml`), articleOf(`${subject} after training with a glove`, body));
    writeFileSync(join(folder, `txt/PMC${id}.txt`), body);
    const start = body.indexOf(quote);
    return [id, quote, start, start + quote.length, "increased"];
  });
  writeFileSync(join(folder, "quotes.csv"), csv(["pmcid", "quote", "start", "end", "label"], quotes));
  copyFileSync(join(root, "demo/corpus/sample_03.pdf"), join(folder, "sample.pdf"));
  writeFileSync(join(folder, "sample.txt"), `${sentenceOfSample}\n`);
  const records = subjects.flatMap((subject, index) =>
    ["a", "b"].map((copy) => [
      `${index}${copy}`,
      `${subject} after training with a glove${copy === "a" ? "" : "."}`,
      "Hand, Ada and Palm, Bo",
      2020 + index,
      "Journal of Invented Hands",
      `10.5555/hands.${index}`,
    ]),
  );
  writeFileSync(
    join(folder, "records_pre_merged.csv"),
    csv(["ID", "title", "author", "year", "journal", "doi"], records),
  );
  writeFileSync(
    join(folder, "merged_record_ids.csv"),
    csv(
      ["merged_ids"],
      subjects.map((_, index) => [`${index}a;${index}b`]),
    ),
  );
  const labelled = Array.from({ length: 60 }, (_, index) => [
    `${subjects[index % subjects.length]} of ${index} adults`,
    index % 6 === 0 ? "Training with a soft glove raised grip strength." : "A survey of chairs and tables in offices.",
    index % 6 === 0 ? 1 : 0,
  ]);
  writeFileSync(join(folder, "labelled.csv"), csv(["title", "abstract", "label_included"], labelled));
}

const articleOf = (title, body) =>
  `<article><front><article-meta><title-group><article-title>${title}</article-title></title-group>` +
  `<abstract><p>${body}</p></abstract></article-meta></front>` +
  `<body><sec><title>Results</title><p>${body}</p></sec></body></article>`;
