import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { quotedWords } from "../../../src/text/evidence/quoted.js";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { QueryLine } from "../../../src/engine/generated/query.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { newRrd } from "../../../src/research/workflow/new-research.js";
import { run, sharedPackage } from "../../support/processes/built.js";
import { type Invented, textOf } from "../../fixtures/invented-papers.js";
import { type ScholarServer, serveScholars } from "../../fixtures/scholar-server.js";
import { ideas, narrative, shownHandle, reading } from "../../support/projects/research.js";
import { type Answer, type Cli, type FakeLlm, type ModelRequest, optionsFor, startFakeLlm } from "./support/agents.js";
import { installed } from "./support/install.js";
import { inSteps, resultCall, toolCall } from "./support/tool-calls.js";

/** The key of the model's provider, and that of a source. */
const keys = { model: "planted-model-key_3141592653", source: "planted-source-key_2718281828" };

const trial = (index: number) =>
  `In trial ${index} the left fingertip noticed ${(index * 13) % 997} of 1000 slips within a minute.`;
const trials = 3600;

/** One of the papers is of about 70,000 tokens, too long to stand in a brief. */
function pageOf(paper: Invented): string {
  if (paper.title !== long) return textOf(paper);
  const paragraphs = Array.from({ length: trials / 20 }, (_, index) => {
    return `<p>${Array.from({ length: 20 }, (__, each) => trial(index * 20 + each)).join(" ")}</p>`;
  });
  return textOf(paper).replace("<h2>3 Results</h2>", `<h2>3 Results</h2>${paragraphs.join("")}`);
}

const merged = "Tactile Grasping with Soft Robot Fingers";
const long = "Learning Slip Detection for Tactile Grasping";
/** None of the keywords leads to it: the model finds it with a tool. */
const beyond = "Policy Gradients for Contact-Rich Assembly";

const facts = [
  "The controller runs at 100 Hz on a small computer, and no camera is used.",
  "The method succeeds in 83 percent of 42 trials, against 61 percent of the baseline.",
];
const lengthy = [0, 1800, trials - 1].map(trial);

interface UnitData {
  readonly kind: string;
  readonly unit: string;
  readonly candidates: readonly { id: string; title: string }[];
  readonly papers: readonly { id: string }[];
  readonly insights: readonly { id: string }[];
}
const unitOf = ({ user }: ModelRequest): UnitData =>
  JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(user)?.[1] ?? "null");
/** What the tools answered, which one of the CLIs hands on as JSON. */
const answersIn = ({ results }: ModelRequest): string =>
  results.join("\n").replaceAll("\\n", "\n").replaceAll('\\"', '"');
const isKept = ({ title }: { readonly title: string }) => [merged, long].includes(title);

/**
 * Asks the sources for what the candidates lack and for more of one of them, then keeps two of them and what it found.
 */
const screens = inSteps(
  (request) => [
    toolCall(request, "search_papers", { query: "contact-rich assembly", most: 5 }),
    toolCall(request, "paper_details", {
      id: unitOf(request).candidates.find(({ title }) => title === merged)?.id ?? "",
    }),
  ],
  (request) => {
    const { unit, candidates } = unitOf(request);
    const [, id = "", url = ""] = new RegExp(`^(\\S+): ${beyond}\\n.*\\n(\\S+)$`, "m").exec(answersIn(request)) ?? [];
    return [
      resultCall(request, {
        unit,
        kept: candidates
          .filter(isKept)
          .map((candidate) => ({ id: candidate.id, priority: 4, reason: "It is about slip." })),
        dropped: candidates
          .filter((candidate) => !isKept(candidate))
          .map((candidate) => ({ id: candidate.id, reason: "It is about something else." })),
        papers: [
          { id, title: beyond, url, authors: ["Ada Inventor12"], priority: 3, reason: "It assembles by touch." },
        ],
        sources: [],
      }),
    ];
  },
);

const places = ({ user }: ModelRequest) => [...user.matchAll(/^(@\d+): /gm)].map(([, place]) => place);
const analysis = (request: ModelRequest, quotes: readonly string[]) => [
  resultCall(
    request,
    reading(unitOf(request).unit, {
      results: "83 percent.",
      evidence: quotes.map((quote) => ({ claim: "It says so.", quote })),
    }),
  ),
];
const reads = inSteps((request) => analysis(request, facts));
const readsWithTools = inSteps(
  (request) => places(request).map((section) => toolCall(request, "read_section", { section })),
  (request) => [toolCall(request, "find_quote", { quote: lengthy[1] })],
  (request) => analysis(request, lengthy),
);

const concludes = inSteps((request) => {
  const { kind, papers, insights } = unitOf(request);
  if (kind === "report") {
    return [resultCall(request, narrative({}, shownHandle({ papers })))];
  }
  const evidence = { paper_ids: [papers[0]?.id], insight_ids: [insights[0]?.id], notes: "It follows." };
  return [resultCall(request, { ...ideas(), ideas: ideas().ideas.map((idea) => ({ ...idea, evidence })) })];
});

function model(request: ModelRequest): Answer {
  const { kind } = unitOf(request);
  if (kind === "discovery") return screens(request);
  if (kind === "paper") return places(request).length > 0 ? readsWithTools(request) : reads(request);
  return concludes(request);
}

let built: string;
let folder: string;
let scholars: ScholarServer;
let server: FakeLlm;
beforeAll(async () => {
  built = await sharedPackage();
  scholars = await serveScholars(pageOf);
});
afterAll(async () => {
  await scholars.close();
});
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "scholarly-")));
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A research over four services, which are all at the loopback server. */
function prepare(name: Cli): { root: string; research: string } {
  const root = join(folder, "repo");
  const home = join(folder, "home");
  const research = join(root, "researches", "touch");
  for (const path of [home, research]) mkdirSync(path, { recursive: true });
  const requirements = {
    name: "Touch",
    description: "Robots that feel slip.",
    focus_area: "robotics",
    keywords: ["tactile grasping", "soft robot"],
  };
  const rrd = newRrd({ papers: 3, sources: ["arXiv", "Google Scholar", "Crossref"] }, requirements);
  const windows = { time_window_days: 3650, historical_lookback_days: 7300 };
  writeFileSync(
    join(research, "rrd.json"),
    JSON.stringify({ ...rrd, requirements: { ...rrd.requirements, ...windows } }, null, 2),
  );
  const options = optionsFor(name, server, home);
  const agent = {
    ...options,
    env: { ...options.env, [name === "claude" ? "ANTHROPIC_API_KEY" : "FAKE_KEY"]: keys.model },
  };
  const config = { agents: { [name]: agent }, sources: scholars.sources, state_dir: join(folder, "state") };
  writeFileSync(join(root, "ralph.config.json"), JSON.stringify(config));
  execFileSync("git", ["init", "-q", root]);
  return { root, research };
}

interface Process {
  readonly command: string;
  readonly environment: string;
}

/** The tool servers of this test that run just now. */
function toolServers(): Process[] {
  const found = readdirSync("/proc").flatMap((pid): Process[] => {
    try {
      return /^\d+$/.test(pid)
        ? [
            {
              command: readFileSync(`/proc/${pid}/cmdline`, "utf8"),
              environment: readFileSync(`/proc/${pid}/environ`, "utf8"),
            },
          ]
        : [];
    } catch {
      return [];
    }
  });
  return found.filter(({ command }) => command.includes(`\0mcp\0--research\0${folder}`));
}

const linesOf = <Line>(path: string): Line[] =>
  readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);

for (const name of ["claude", "codex"] as const) {
  const found = installed(name);
  describe.skipIf("problem" in found)(
    `a research over four services with the real ${name}${"problem" in found ? ` (skipped: ${found.problem})` : ""}`,
    () => {
      test("finds, screens and reads with our tools, which hold no key of the model's, ends COMPLETE and can be replayed", async () => {
        const serving: Process[] = [];
        server = await startFakeLlm((request) => {
          if (request.results.length > 0 && existsSync("/proc")) serving.push(...toolServers());
          return model(request);
        });
        const { root, research } = prepare(name);
        const environment = { OPENAI_API_KEY: keys.model, SEMANTIC_SCHOLAR_API_KEY: keys.source };
        const ralph = (...args: string[]) =>
          run(process.execPath, [join(built, "dist", "cli.js"), ...args], root, environment);
        const { code, out, err } = await ralph("run", "touch", "--agent", name, "--iterations", "9");
        expect(err).not.toContain("refused");
        expect([code, out.trim().split("\n").at(-1)]).toEqual([0, "<promise>COMPLETE</promise>"]);

        const rrd = JSON.parse(readFileSync(join(research, "rrd.json"), "utf8")) as Rrd;
        expect(rrd.phase).toBe("COMPLETE");
        const quotes = new Map([
          [merged, facts],
          [long, lengthy],
          [beyond, facts],
        ]);
        expect(new Set(rrd.papers_pool.map(({ title }) => title))).toEqual(new Set(quotes.keys()));
        for (const { title, status, read_depth, analysis } of rrd.papers_pool) {
          expect([title, status, read_depth]).toEqual([title, "presented", "full"]);
          expect(analysis?.evidence?.map((each) => [quotedWords(each), each.status])).toEqual(
            quotes.get(title)?.map((quote) => [quote, "verified"]),
          );
        }
        const ledger = linesOf<LedgerLine>(join(research, "ledger.jsonl"));
        expect(ledger.map(({ agent, outcome, confinement }) => [agent, outcome, confinement])).toEqual(
          ledger.map(() => [name, "accepted", "workspace"]),
        );
        expect(ledger).toHaveLength(6);

        // What the tools answered in DISCOVERY came from the services, and in ANALYSIS from the kept text.
        const last = (kind: string, is: (request: ModelRequest) => boolean = () => true) =>
          answersIn(
            server.requests.findLast((request) => unitOf(request).kind === kind && is(request)) as ModelRequest,
          );
        expect(last("discovery")).toMatch(
          /Found by source: .*OpenAlex 1, Semantic Scholar 1.*\n<untrusted-text sha256="\w+">\n/,
        );
        expect(last("discovery")).toMatch(new RegExp(`<untrusted-text sha256="\\w+">\\n\\{.*"title":"${merged}"`));
        expect(scholars.requests.filter((path) => path.includes("assembly")).map((path) => path.split("/")[1])).toEqual(
          expect.arrayContaining(["arxiv", "openalex", "semanticscholar", "crossref"]),
        );
        const read = last("paper", (request) => places(request).length > 0);
        for (const index of [0, 1234, trials - 1]) expect(read).toContain(trial(index));
        expect(read).toMatch(/Found at "@\d+".*\n<untrusted-text sha256="\w+">\n/);

        // The model's key was there to be had; a source's key goes where sources are asked, and nowhere else.
        expect(JSON.stringify(server.requests[0]?.headers)).toContain(keys.model);
        if (existsSync("/proc")) {
          const [about, searching] = [true, false].map((of) =>
            serving.filter(({ command }) => command.includes("\0--paper=") === of),
          );
          for (const some of [about, searching]) expect(some?.length).toBeGreaterThan(0);
          for (const each of serving) expect(each.environment.includes(keys.model)).toBe(false);
          for (const each of searching ?? []) expect(each.environment).toContain(keys.source);
          for (const each of about ?? []) expect(each.environment.includes(keys.source)).toBe(false);
        }

        const asked = linesOf<QueryLine>(join(research, "queries.jsonl"));
        expect(new Set(asked.map(({ source }) => source))).toEqual(
          new Set(["arXiv", "OpenAlex", "Semantic Scholar", "Crossref"]),
        );
        expect(asked.map(({ status }) => status)).not.toContain("error");
        // What the model asked through our tools stands there too, as asked by a tool.
        const byTool = asked.filter(({ by }) => by === "tool");
        expect(new Set(byTool.map(({ source }) => source))).toEqual(
          new Set(["arXiv", "OpenAlex", "Semantic Scholar", "Crossref"]),
        );
        expect(byTool.every(({ url }) => /assembly|2601/.test(url))).toBe(true);
        expect(byTool.length).toBeLessThan(asked.length);
        const replayed = await ralph("replay", "touch");
        expect([replayed.code, replayed.err, replayed.out]).toEqual([
          0,
          "",
          expect.stringContaining("identical, byte for byte"),
        ]);
      });
    },
  );
}
