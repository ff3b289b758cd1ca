import { expect, it } from "vitest";
import { readRrdShape } from "../../../../src/research/project-files/legacy/read-rrd.js";

/** The value read from a research with these fields, and what is told of it. */
export function shape(fields: object) {
  const { value, changes } = readRrdShape({ phase: "ANALYSIS", papers_pool: [], ...fields });
  return {
    read: value as Record<string, unknown>,
    told: changes.map(({ pointer, message }) => `${pointer} ${message}`),
  };
}

/** Each row: what it is about, what stands in the file, and what is read; undefined where the field is left out. */
export type Rows = [string, unknown, unknown][];

/** A row of a value that is in order: the very same comes back. */
export const inOrder = (about: string, value: unknown): Rows[number] => [about, value, value];

/** What is read is what the row says, what differs is told, and what was read once is read again without a change. */
export const areReadAs = (field: string, rows: Rows) =>
  it.each(rows)(`${field}: %s: %j`, (_, given, expected) => {
    const { read, told } = shape({ [field]: given });
    const { phase: _phase, papers_pool: _pool, ...others } = read;
    expect(others).toStrictEqual(expected === undefined ? {} : { [field]: expected });
    for (const change of told) expect(change).toMatch(new RegExp(`^/${field}\\b.*, read as `, "s"));
    if (given === expected) expect(read[field]).toBe(given);
    expect(told.length === 0).toBe(given === expected);
    expect(shape(others)).toEqual({ read, told: [] });
  });
