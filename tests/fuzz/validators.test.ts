import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { packageFile } from "../../src/engine/lib/package-root.js";
import { explain, isValid, type SchemaName } from "../../src/engine/storage/schema-check.js";
import fc, { anyText } from "../support/runner/fast-check.js";
import { finished, goodResults, ledger, midway, oldest, searching } from "./documents.js";
import { cases, type Json, mutate, mutations } from "./mutations.js";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

const ending = ".schema.json";
const read = (name: string): Schema =>
  JSON.parse(readFileSync(packageFile("schemas", `${name}${ending}`), "utf8")) as Schema;
const names = readdirSync(packageFile("schemas"))
  .filter((file) => file.endsWith(ending))
  .map((file) => file.slice(0, -ending.length) as SchemaName);
/** Each schema under its file's name, as a $ref names it. */
const schemas = new Map<string, Schema>(names.map((name) => [`${name}${ending}`, read(name)]));

/** Where a $ref of the schema `file` leads, and the file of it. */
function follow(ref: string, file: string): [Schema, string] {
  const [where = "", pointer = ""] = ref.split("#");
  const target = where === "" ? file : where;
  let node: unknown = schemas.get(target);
  for (const part of pointer.split("/").slice(1)) node = (node as Record<string, unknown>)[part];
  return [node as Schema, target];
}

const examples: ReadonlyMap<string, string> = new Map([
  ["date-time", "2026-01-01T00:00:00.000Z"],
  ["uri", "https://example.org"],
]);
/** Longer texts cost seconds to make and to try, and show nothing more. */
const longestMade = 10_000;

/** Values that mostly fit the schema, with texts and numbers on and around its bounds. */
function near(schema: Schema, file: string, depth = 0): fc.Arbitrary<Json> {
  // A criterion may hold criteria without end.
  if (depth > 12) return fc.constant(null);
  if (schema.$ref !== undefined) return near(...follow(schema.$ref, file), depth + 1);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined && schema.properties === undefined)
    return fc.oneof(...alternatives.map((each) => near(each, file, depth + 1)));
  const types = [schema.type ?? "object"].flat();
  return fc.oneof(...types.map((type) => ofType(type, schema, file, depth)));
}

function ofType(type: string, schema: Schema, file: string, depth: number): fc.Arbitrary<Json> {
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "string": {
      const { minLength: least = 0, maxLength: longest = 30, pattern, format } = schema;
      const example = examples.get(format ?? "");
      if (example !== undefined) return fc.oneof({ weight: 3, arbitrary: fc.constant(example) }, fc.string());
      if (pattern !== undefined)
        return fc.oneof({ weight: 3, arbitrary: fc.stringMatching(new RegExp(pattern, "u")) }, fc.string());
      if (longest > longestMade) return fc.string();
      // Two UTF-16 units are one character to a schema.
      return fc.oneof(
        fc.constantFrom("2026-01-01", "https://example.org", "𝒳".repeat(longest), "x".repeat(longest + 1)),
        anyText({ minLength: least, maxLength: least + 5 }),
      );
    }
    case "integer":
    case "number": {
      const { minimum = 0, maximum = 100 } = schema;
      return fc.constantFrom(minimum, maximum, minimum + 0.5, maximum + 1, Math.round((minimum + maximum) / 2));
    }
    case "array": {
      const { items = {}, minItems = 0, maxItems = 3 } = schema;
      if (depth > 8) return fc.constant([]);
      const maxLength = Math.min(maxItems, minItems + 2);
      return fc.array(near(items, file, depth + 1), { minLength: minItems, maxLength });
    }
    default: {
      const fields = Object.entries(schema.properties ?? {}).filter(
        ([field]) => depth < 8 || schema.required?.includes(field),
      );
      const model = Object.fromEntries(fields.map(([field, each]) => [field, near(each, file, depth + 1)]));
      return fc.record(model, { requiredKeys: [...(schema.required ?? [])].filter((field) => field in model) });
    }
  }
}

/** Documents as the program itself writes them. */
const written: Partial<Record<SchemaName, readonly unknown[]>> = {
  rrd: [midway(), finished().rrd, oldest(), searching()],
  ledger,
  // Of its many keys one is nearly always wrong where all are made up.
  config: [
    { agent: "codex,claude", max_usd: 2 },
    { api_url: "http://localhost:1234/v1", model: "m", max_tokens: -1 },
  ],
  answer: [
    {
      id: "answer-1",
      at: "2026-01-01T00:00:00.000Z",
      question: "Does it help?",
      seen: 4,
      statements: [{ text: "It helps.", rests_on: ["p1#1"] }],
      quotes: [{ handle: "p1#1", paper: "p1", quote: "It helped in all of the trials." }],
    },
  ],
  ralph: [{ task: "Mend it", acceptance_criteria: [{ type: "tests_pass" }] }],
  "ralph-state": [
    {
      id: "mend-it-1",
      source: "ralph.json",
      task: { task: "Mend it", acceptance_criteria: [{ type: "command_succeeds", command: "test -s a" }] },
      checks: [{ criterion: "command_succeeds test -s a", passed: true, ms: 14, detail: "It ended with exit code 0." }],
      attempts: [
        {
          id: "attempt-1",
          iteration: 1,
          at: "2026-01-01T00:00:00.000Z",
          agent: "codex",
          outcome: "accepted",
          met: 1,
          failing: 0,
          duration_seconds: 1,
          tokens: 10,
        },
      ],
      iteration: 1,
      plan: {
        tasks: [{ id: "criterion-1", title: "test -s a", done: true, kind: "criterion" }],
        current_task_id: null,
      },
      done: true,
      loop: { observations: [] },
    },
  ],
  "fleet-job": [
    {
      version: 1,
      run: "0123456789abcdef",
      brief: {
        text: "Read.",
        tokens: 2,
        workspace: `workspace-${"0a".repeat(16)}`,
        access: { web: false, read: true },
        temperature: 0.3,
      },
      files: "H4sI",
      maxUsd: 1,
    },
  ],
  plugin: [{ nothing: true }, { added: "Use the metric system." }],
  "result-analysis": [goodResults.paper.result],
  "result-discovery": [goodResults.discovery.result],
  "result-report": [goodResults.report.result],
  "result-ideation": [goodResults.ideas.result],
};

describe("the code written of a schema and Ajv agree", () => {
  it.each(names)("on values near %s", (name) => {
    const answers = { valid: 0, invalid: 0 };
    const agree = (value: unknown) => {
      const valid = isValid(name, value);
      answers[valid ? "valid" : "invalid"] += 1;
      expect(explain(name, value).length === 0, JSON.stringify(value)).toBe(valid);
    };
    for (const document of written[name] ?? []) agree(document);
    const start = fc.oneof(
      near(schemas.get(`${name}${ending}`) ?? {}, `${name}${ending}`),
      ...(written[name] ?? []).map((document) => fc.constant(document as Json)),
    );
    fc.assert(
      fc.property(start, mutations, (document, slips) => {
        agree(document);
        agree(mutate(document, slips));
      }),
      { numRuns: Math.max(100, cases(0.2)) },
    );
    expect(answers.valid).toBeGreaterThan(0);
    expect(answers.invalid).toBeGreaterThan(0);
  });
});
