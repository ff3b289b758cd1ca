// The table of docs/write-an-agent.md: every kind of unit, the schema of its result, and which fields that must have.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "../bundle.mjs";

/** What each kind asks for. */
const asksFor = {
  requirements: "name, field and keywords of a project, of a topic",
  discovery: "which of these records belong to the pool",
  paper: "one paper: summary, evidence, criteria or points, fields",
  extract: "values of fields in one paper, with their passages",
  report: "answer, findings and gaps, by the handles of quotes",
  ideas: "product ideas, of insights",
  check: "whether sentences follow from what they cite",
  claims: "whether claims follow from their quotes",
  mend: "sentences that did not follow, again",
  question: "an answer to a question, by the handles of quotes",
  critique: "what is wrong with a draft, if units are thought over",
  librarian: "the cause of a failure, places, a plan",
  artisan: "why this change; the change itself is in the files",
  critic: "approve, or revise with findings",
  adversary: "tests that try to break the change",
};

/** Kinds that no project's own work has: of `new`, of questions, of thinking over, and the roles of a team. */
const others = {
  requirements: "result-requirements",
  question: "result-answer",
  critique: "result-critique",
  librarian: "result-librarian",
  artisan: "result-artisan",
  critic: "result-critic",
  adversary: "result-adversary",
};

/** A row for each kind. Throws for a kind without words, for words without a kind, and for a result of no kind. */
export async function unitsTable(root) {
  const { kinds } = await load({ kinds: "src/research/units/kinds.ts" });
  const schemaOf = { ...Object.fromEntries(kinds.kinds.map(({ name, schema }) => [name, schema])), ...others };
  const results = readdirSync(join(root, "schemas")).flatMap((file) => /^result-[a-z]+/.exec(file)?.[0] ?? []);
  const faults = [
    ...results.filter((name) => !Object.values(schemaOf).includes(name)),
    ...Object.keys(schemaOf).filter((kind) => asksFor[kind] === undefined),
    ...Object.keys(asksFor).filter((kind) => schemaOf[kind] === undefined),
  ];
  if (faults.length > 0) throw new Error(`scripts/docs/units-page.mjs does not match the units: ${faults.join(", ")}.`);
  const rows = Object.entries(asksFor).map(([kind, what]) => {
    const file = `schemas/${schemaOf[kind]}.schema.json`;
    const { required } = JSON.parse(readFileSync(join(root, file), "utf8"));
    const fields = required.filter((field) => field !== "unit").map((field) => `\`${field}\``);
    return `| \`${kind}\` | ${what} | [${schemaOf[kind]}](../${file}) | ${fields.join(", ")} |`;
  });
  const head = "| `kind` | asks for | schema of the result | fields that it must have, besides `unit` |";
  return [head, "| --- | --- | --- | --- |", ...rows].join("\n");
}
