import { createInterface } from "node:readline";
import { projectFiles, readConfigFile } from "../engine/config/config-file.js";
import type { ConfigKeys } from "../engine/config/keys.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { oneLine } from "../engine/lib/sanitise.js";
import { writeFileAtomic } from "../engine/storage/atomic-file.js";
import { makeFolder } from "../engine/storage/regular-file.js";
import type { Io } from "../engine/ui/io.js";
import { hashOf, type OwnServers, ownFolder, trusted, trustFile } from "./settings.js";

/** Remembers that the user agrees to what a file says, as it stands now. */
async function remember(io: Io, text: string): Promise<void> {
  const hashes = new Set([...(await trusted(io.env)), hashOf(text)]);
  makeFolder(ownFolder(io.env), 0o700);
  await writeFileAtomic(trustFile(io.env), `${[...hashes].join("\n")}\n`, { mode: 0o600 });
}

/** `ralph --trust`. */
export async function trustFolder(io: Io, keys: ConfigKeys): Promise<string> {
  const file = await readConfigFile(keys, projectFiles(io.cwd));
  if (file === undefined) throw new ExpectedError(`There is no ralph.config.json or ralph.config.yaml in ${io.cwd}.`);
  await remember(io, file.text);
  return `${file.path} is trusted as it stands now.`;
}

/**
 * The servers that may be started. Those of a file that came with a folder only after a yes: at the terminal they are
 * shown and asked for, elsewhere left out with a sentence.
 */
export async function agreedServers(
  io: Io,
  servers: OwnServers | undefined,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (servers === undefined || servers.isTrusted) return servers?.written;
  const { written, path, text } = servers;
  if (!io.canAsk) {
    io.stderr(`ralph: The MCP servers of ${path} are left out; run \`ralph --trust\` in that folder if you agree.\n`);
    return undefined;
  }
  const lines = Object.entries(written).map(
    ([name, each]) => `  ${oneLine(name)}: ${oneLine(started(each)).slice(0, 200)}`,
  );
  io.stderr(`${path} came with this folder and starts MCP servers:\n${lines.join("\n")}\n`);
  if (!(await isAgreed(io, "Start them, now and in future? (yes, no) "))) return undefined;
  await remember(io, text);
  return written;
}

function started(server: unknown): string {
  const { command, args, url } = (typeof server === "object" && server !== null ? server : {}) as Record<
    string,
    unknown
  >;
  return typeof command === "string"
    ? [command, ...(Array.isArray(args) ? args : [])].join(" ")
    : String(url ?? "nothing that can be started");
}

async function isAgreed(io: Io, question: string): Promise<boolean> {
  const asking = createInterface({ input: io.stdin, output: io.terminal });
  try {
    const said = await new Promise<string>((resolve) => {
      asking.once("close", () => resolve(""));
      asking.question(question, resolve);
    });
    return /^y(?:es)?$/i.test(said.trim());
  } finally {
    asking.close();
  }
}
