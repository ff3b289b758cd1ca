// A lint rule for the house of CONTRIBUTING.md: imports point down only. It sees static, dynamic, re-exporting and type
// imports.
import { dirname, join, relative, sep } from "node:path";

/**
 * The wings from the roof to the cellar. A file may import its own wing and any wing below; wings of one floor do not
 * see each other.
 */
const floors = [
  ["cli", "ralph", "index", "loop"],
  ["commands"],
  ["compose"],
  ["research", "task", "code", "assistant", "web", "fleet"],
  ["text", "net", "memory"],
  ["engine"],
];

/** Same floor, and still allowed, each for a reason. */
const neighbours = {
  code: ["task"], // a team works on a task
  web: ["research"], // a page shows what a project holds
};

/**
 * What each folder of a wing may import of its own wing, besides itself. `*`: everything listed here. A folder that is
 * not listed has no place yet, which is an error: a person who adds a concept says what it stands on.
 */
const folders = {
  engine: {
    lib: [],
    generated: [],
    process: ["lib"],
    storage: ["lib", "process"],
    tools: ["lib", "storage"],
    config: ["lib", "storage"],
    loop: ["lib"],
    agents: ["lib", "process", "storage", "config", "loop"],
    sandbox: ["lib", "process", "storage"],
    points: ["lib", "process", "loop"],
    plugins: ["lib", "process", "storage", "points"],
    ui: ["lib", "process", "config", "loop", "points"],
    traces: ["lib", "loop"],
  },
  text: { xml: [], dates: [], entities: [], documents: ["dates", "entities"], evidence: ["documents", "entities"] },
  research: {
    generated: [],
    papers: [],
    "project-files": ["papers"],
    sources: ["papers"],
    "full-text": ["papers", "sources"],
    search: ["papers", "sources"],
    screening: ["papers", "sources", "search", "project-files", "full-text"],
    "paper-lookups": ["papers", "sources", "full-text", "project-files"],
    derived: ["papers", "project-files", "screening"],
    tools: ["papers", "sources", "search", "screening", "full-text", "derived"],
    units: [
      "papers",
      "sources",
      "search",
      "screening",
      "project-files",
      "full-text",
      "paper-lookups",
      "tools",
      "derived",
    ],
    workflow: [
      "papers",
      "sources",
      "search",
      "screening",
      "project-files",
      "full-text",
      "paper-lookups",
      "tools",
      "derived",
      "units",
    ],
    overview: ["project-files", "workflow", "derived", "units", "papers", "search", "screening", "full-text", "tools"],
    report: ["papers", "screening", "full-text", "project-files", "derived", "units", "workflow", "overview"],
    update: [
      "papers",
      "search",
      "screening",
      "project-files",
      "full-text",
      "paper-lookups",
      "derived",
      "units",
      "workflow",
      "report",
    ],
    "baseline-agent": ["search"],
  },
  task: {
    generated: [],
    "project-files": [],
    place: [],
    "test-runs": ["place"],
    criteria: ["place", "test-runs"],
    plan: ["criteria"],
    workflow: ["criteria", "project-files", "place", "plan"],
  },
  code: {
    generated: [],
    "project-files": [],
    round: [],
    graph: ["project-files", "round"],
    vault: ["project-files", "graph"],
    roles: ["project-files", "round", "graph"],
    team: ["project-files", "round", "roles", "vault"],
  },
  // Its files have an order too: from what it is set to, over its tools, up to the dialogue and the program.
  assistant: {
    generated: [],
    "config-keys": ["providers"],
    "command-line": [],
    providers: [],
    "served-models": [],
    settings: ["config-keys", "providers", "served-models"],
    trust: ["settings"],
    model: ["settings"],
    memory: ["settings", "providers"],
    tools: ["settings", "memory"],
    mcp: ["tools"],
    conversation: ["settings"],
    converse: ["settings", "model", "conversation", "tools"],
    headless: ["settings", "model", "converse", "tools", "mcp"],
    session: ["settings", "converse", "conversation", "memory", "tools", "mcp"],
    dialogue: ["settings", "converse", "conversation", "memory", "tools", "mcp", "session"],
    main: [
      "command-line",
      "settings",
      "providers",
      "model",
      "trust",
      "conversation",
      "memory",
      "tools",
      "mcp",
      "converse",
      "headless",
      "session",
      "dialogue",
    ],
  },
};

/** What kinds of units share. */
const underKinds = [
  ...["unit-kind", "judged-result", "single-unit", "shared-unit", "brief-text", "retractions"],
  ...["narrative", "form", "paper-text"],
];
const kindsOfUnits = ["screening", "reading", "report", "ideas", "check"];

/**
 * The same one level deeper, for folders whose own folders have an order. Files that lie in such a folder itself and
 * are not listed are its roof: they may import any of its folders, and none of them imports a file of the roof.
 */
const inside = {
  // A kind of unit never imports its sibling, nor the list of all kinds.
  "research/units": Object.fromEntries([...underKinds, ...kindsOfUnits].map((name) => [name, underKinds])),
  "research/workflow": { steering: [], brief: [] },
};

/** What any file of its wing or above may import, whatever the folder. */
const forEveryone = [
  "engine/loop/types",
  "engine/generated",
  "research/generated",
  "task/generated",
  "code/generated",
  "assistant/generated",
];

/**
 * Files with a shorter list than their folder: the loop knows its own words, how agents run side by side, which rules
 * hold where none were set, and how a member is left out, and nothing else.
 */
const onlyImports = new Map([
  [
    "engine/loop/run-loop",
    [
      "engine/loop/types",
      "engine/loop/lanes",
      "engine/loop/notes",
      "engine/loop/rules-of-run",
      "engine/lib/without-undefined",
    ],
  ],
  [
    "engine/loop/types",
    [
      "engine/generated/event",
      "engine/loop/run-record/loop-memory",
      "engine/loop/run-record/digest",
      "engine/lib/clock",
    ],
  ],
]);

/** The adapters of engine/agents: a file or a folder each. What else lies there is shared by them. */
const adapters = new Set(["amp", "claude", "codex", "command", "ralph"]);

const floorOf = (wing) => floors.findIndex((wings) => wings.includes(wing));
const under = (path, prefix) => path === prefix || path.startsWith(`${prefix}/`);
const adapterOf = (path) => {
  const [wing, folder, name] = path.split("/");
  return wing === "engine" && folder === "agents" && adapters.has(name) ? name : undefined;
};

/** Why `from` may not import `to` (both relative to src/, without extension), or undefined when it may. */
function objection(from, to) {
  const only = onlyImports.get(from);
  if (only !== undefined)
    return only.includes(to) ? undefined : `${from} imports ${only.join(", ")} and nothing else, not ${to}.`;

  const [[wing, folder], [other, its]] = [from.split("/"), to.split("/")];
  for (const name of [wing, other])
    if (floorOf(name) === -1) return `The wing '${name}' has no floor in scripts/lint/import-directions.mjs.`;
  if (wing !== other) {
    if (floorOf(other) > floorOf(wing) || neighbours[wing]?.includes(other)) return undefined;
    return `Imports point down only: ${wing} may not import ${other} (${to}).`;
  }
  const [mine, sibling] = [adapterOf(from), adapterOf(to)];
  if (mine !== undefined && sibling !== undefined && mine !== sibling)
    return `An adapter never imports its sibling: ${from} imports ${to}.`;
  if (mine !== undefined && (to === "engine/agents/registry" || to === "engine/agents/adapters"))
    return `An adapter does not know the registry: ${from} imports ${to}.`;

  const deeper = inside[`${wing}/${folder}`];
  if (deeper !== undefined && folder === its) return objectionInside(`${wing}/${folder}`, deeper, from, to);

  const allowed = folders[wing];
  if (allowed === undefined || folder === its || forEveryone.some((prefix) => under(to, prefix))) return undefined;
  for (const name of [folder, its])
    if (allowed[name] === undefined)
      return `The folder '${wing}/${name}' has no place in scripts/lint/import-directions.mjs.`;
  return allowed[folder].includes(its) ? undefined : `${wing}/${folder} may not import ${wing}/${its} (${to}).`;
}

/** Why one file of a folder whose folders have an order may not import another of it. */
function objectionInside(parent, allowed, from, to) {
  const [mine, other] = [from, to].map((path) => path.slice(parent.length + 1).split("/"));
  const [room, its] = [mine, other].map(([first, ...more]) =>
    more.length > 0 || Object.hasOwn(allowed, first) ? first : undefined,
  );
  for (const name of [room, its])
    if (name !== undefined && allowed[name] === undefined)
      return `The folder '${parent}/${name}' has no place in scripts/lint/import-directions.mjs.`;
  if (room === undefined || room === its || allowed[room].includes(its)) return undefined;
  return `${parent}/${room} may not import ${its === undefined ? "a file" : `${parent}/${its}`} above it (${to}).`;
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
