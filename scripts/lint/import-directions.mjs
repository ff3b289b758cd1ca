// A lint rule for the house of CONTRIBUTING.md: imports point down only. It sees static, dynamic, re-exporting and type imports.
import { dirname, join, relative, sep } from "node:path";

/** Rooms from the roof to the cellar. A file may import its own room and any room below; rooms of one floor do not see each other. */
const floors = [
  ["cli"],
  ["commands"],
  ["compose"],
  ["config", "workflows", "agents", "sandbox", "ui", "web", "fleet"],
  ["loop"],
  ["toolbox", "sources", "evidence", "memory", "store"],
  ["lib"],
  ["generated"],
];

/** Same floor, and still allowed, each for a reason. */
const neighbours = new Map([
  ["sources", ["store"]], // the pace of a host is a file that processes share under the store's lock
  ["evidence", ["sources"]], // a quote is found in a PaperText, which sources define
  ["toolbox", ["sources", "evidence"]], // its tools show what those find
]);

/** What any room may import, whatever its floor. */
const forEveryone = ["loop/types", "generated"];

/** Files of src/agents/ that adapters share. Any other belongs to an adapter: claude.ts, claude-stream.ts and claude/x.ts to claude. */
const sharedByAdapters = new Set([
  "definition",
  "failures",
  "json-line",
  "messages",
  "models",
  "plain-text",
  "price",
  "program",
  "registry",
  "run-agent",
  "tool-server",
]);

/** Files with a shorter list than their room: the loop knows its own words and how agents run side by side, and nothing else. */
const onlyImports = new Map([
  ["loop/run-loop", ["loop/types", "loop/lanes", "loop/notes"]],
  ["loop/types", ["generated/event", "loop/memory", "loop/digest"]],
]);

const floorOf = (room) => floors.findIndex((rooms) => rooms.includes(room));
const roomOf = (path) => path.split("/")[0];
const under = (path, prefix) => path === prefix || path.startsWith(`${prefix}/`);

/** Which adapter a path of src/ belongs to, if any. */
function adapterOf(path) {
  const [room, name] = path.split("/");
  return room === "agents" && !sharedByAdapters.has(name) ? name.split("-")[0] : undefined;
}

/** Why `from` may not import `to` (both relative to src/, without extension), or undefined when it may. */
function objection(from, to) {
  const only = onlyImports.get(from);
  if (only !== undefined) return only.includes(to) ? undefined : `${from} imports ${only.join(", ")} and nothing else, not ${to}.`;
  if (forEveryone.some((prefix) => under(to, prefix))) return undefined;

  const [room, other] = [roomOf(from), roomOf(to)];
  for (const name of [room, other]) if (floorOf(name) === -1) return `The room '${name}' has no floor in scripts/lint/import-directions.mjs.`;
  if (room === other) {
    const [mine, its] = [adapterOf(from), adapterOf(to)];
    if (mine !== undefined && its !== undefined && mine !== its) return `An adapter never imports its sibling: ${from} imports ${to}.`;
    if (mine !== undefined && to === "agents/registry") return `An adapter does not know the registry: ${from} imports ${to}.`;
    return undefined;
  }
  if (floorOf(other) > floorOf(room) || neighbours.get(room)?.includes(other)) return undefined;
  return `Imports point down only: ${room} may not import ${other} (${to}).`;
}

function create(context) {
  const src = join(context.cwd, "src");
  const file = context.physicalFilename ?? context.filename;
  const inSrc = (path) =>
    relative(src, path)
      .split(sep)
      .join("/")
      .replace(/\.[cm]?[jt]s$/, "");
  const from = inSrc(file);
  if (from.startsWith("..")) return {};

  const check = (node) => {
    const source = node?.source ?? node?.argument?.literal ?? node?.argument;
    if (typeof source?.value !== "string" || !source.value.startsWith(".")) return;
    const to = inSrc(join(dirname(file), source.value));
    if (to.startsWith("..")) return;
    const message = objection(from, to);
    if (message !== undefined) context.report({ node: source, message });
  };
  return {
    ImportDeclaration: check,
    ExportNamedDeclaration: check,
    ExportAllDeclaration: check,
    ImportExpression: check,
    TSImportType: check,
  };
}

export default { meta: { name: "house" }, rules: { "import-directions": { create } } };
