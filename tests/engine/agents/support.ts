import { runProcess } from "../../../src/engine/process/run-process.js";
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach } from "vitest";
import type { AgentSettings } from "../../../src/engine/agents/definition.js";
import { createAgent } from "../../../src/engine/agents/registry.js";
import type { AgentEnd, AgentEvent, Brief } from "../../../src/engine/loop/types.js";
import { baseline } from "../../../src/research/baseline-agent/definition.js";

export interface Place {
  readonly folder: string;
  readonly workspace: string;
}

/** A temporary folder for every test of the file. */
export function place(): Place {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "agents-"));
    mkdirSync(join(folder, "workspace"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  return {
    get folder() {
      return folder;
    },
    get workspace() {
      return join(folder, "workspace");
    },
  };
}

/** An executable file with this shell script. */
export function program(folder: string, name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

/**
 * The program of an agent's CLI. It is started a second time beside its work, with `--version` and in the user's
 * environment: then it does nothing, and its script is not carried out twice.
 */
export const cli = (folder: string, name: string, script: string): string =>
  program(folder, name, `[ "$1" != --version ] || exit 0\n${script}`);

export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/agents/${name}.jsonl`, import.meta.url));
export const fixtureLines = (name: string): string[] => readFileSync(fixture(name), "utf8").trimEnd().split("\n");

export const settingsIn = ({ folder }: Place, more: Partial<AgentSettings> = {}): AgentSettings => ({
  exec: runProcess,
  iterationMs: 30_000,
  idleMs: 0,
  unconfined: false,
  classic: false,
  stateDir: join(folder, "state"),
  transcript: () => undefined,
  adapters: [baseline],
  secrets: [],
  agents: {},
  cwd: folder,
  env: { PATH: process.env["PATH"], HOME: join(folder, "home") },
  ...more,
});

export const briefIn = ({ workspace }: Place, more: Partial<Brief> = {}): Brief => ({
  iteration: 1,
  text: "the brief",
  tokens: 2,
  workspace,
  access: { web: false, read: false, everything: false },
  ...more,
});

export async function run(
  spec: string,
  settings: AgentSettings,
  brief: Brief,
  signal = new AbortController().signal,
): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of createAgent(spec, settings).run(brief, { signal })) events.push(event);
  return events;
}

/** How the stream ended; there is exactly one end, the last event. */
export function endOf(events: readonly AgentEvent[]): AgentEnd {
  const ends = events.filter((event) => event.type === "end");
  const [end] = ends;
  if (ends.length !== 1 || end === undefined || events.at(-1) !== end)
    throw new Error(`not one end at the end: ${JSON.stringify(events)}`);
  return end;
}
