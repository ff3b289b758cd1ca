import { existsSync } from "node:fs";
import type { AgentDefinition } from "../../engine/agents/definition.js";
import { readPlainText } from "../../engine/agents/shared/plain-text.js";
import { builtFile, packageFile } from "../../engine/lib/package-root.js";

const program = builtFile("baseline-agent");

/**
 * A deterministic extractive agent without a model: for the demo, for tests, and as the baseline that a model must
 * exceed. Like every agent, it is a child process. It writes result.json into its workspace, opens only the text files
 * that the brief names, and has no network code.
 */
export const baseline: AgentDefinition = {
  name: "baseline",
  confinement: "workspace",
  briefsOnly: true,
  free: true,
  invoke: () => ({ command: process.execPath, args: [program] }),
  processAccess: () => ({
    read: [packageFile("dist"), packageFile("package.json")],
    write: [],
    hosts: [],
    keys: [],
    env: {},
  }),
  reader: readPlainText,
  async check() {
    return existsSync(program)
      ? {
          ok: true,
          version: process.version,
          detail: `Runs on this Node (${process.version}); needs no key and no network.`,
        }
      : { ok: false, detail: `Its program ${program} is missing.`, fix: "Run `npm run build`." };
  },
};
