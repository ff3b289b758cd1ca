import { expect, onTestFinished, test, vi } from "vitest";
import type { PaperRecord } from "../../../src/research/papers/paper-record.js";
import type { Answer, Source, SourceContext } from "../../../src/research/sources/shared/source.js";
import { estimateTokens } from "../../../src/engine/lib/tokens.js";
import { paper } from "../../support/projects/research.js";
import { call, inFence, shelfWith } from "./shelf.js";

const record = (id: string, title: string, source: string, over: Partial<PaperRecord> = {}): PaperRecord => ({
  id,
  title,
  url: `https://example.org/${id}`,
  pdf_url: null,
  authors: ["Ada Author"],
  date: "2026-01-02",
  source,
  abstract: `What ${title} is about.`,
  identifiers: {},
  ...over,
});

const answering = (name: string, answer: Answer<readonly PaperRecord[]>): Source => ({
  name,
  aliases: [],
  endpoint: "",
  search: async () => answer,
});
const noNetwork: SourceContext = {
  http: { get: async () => ({ status: "error", reason: "There is no network." }) },
  endpoint: "https://example.org",
  contextFor: () => noNetwork,
};

const twin = { identifiers: { doi: "10.1000/twin" } };
const sources = [
  answering("One", {
    status: "ok",
    value: [record("a", "Grippers alone", "One"), record("b", "A matter of two sources", "One", twin)],
  }),
  answering("Two", {
    status: "ok",
    value: [
      record("c", "A matter of two sources", "Two", twin),
      record("p1", "On the matter of p1", "Two", { retracted: true }),
    ],
  }),
  answering("Three", { status: "rate_limited", reason: "Three asks to wait." }),
  { name: "Four", aliases: [], endpoint: "" },
];
const context = shelfWith([paper("p1")], {}, { network: { sources, contextFor: () => noNetwork } });

test("search_papers merges what the sources list, marks what is in the research, and names each source's count or failure", async () => {
  const answer = await call("search_papers", { query: "grippers" }, context);
  expect(answer).toMatch(/^3 papers\. Found by source: One 2, Two 2\./);
  const [first, ...rest] = inFence(answer).split("\n\n");
  // In the order of a run: what fits the words comes before what more sources list.
  expect(first).toContain("Grippers alone\n2026-01-02; Ada Author; One");
  expect(rest.join("\n")).toContain("A matter of two sources\n2026-01-02; Ada Author; One + Two");
  expect(rest.find((block) => block.startsWith("p1: "))).toContain("in the research as p1, pending; RETRACTED");
  expect(rest).toContain("Three (rate_limited): Three asks to wait.");
  expect(rest).toContain("Four (error): Four can't be searched.");
});

test("search_papers is bounded however much the sources say, and takes no date that is none", async () => {
  const many = Array.from({ length: 50 }, (_, index) =>
    record(`id${index}`, `Work number ${index} ${"on grippers ".repeat(200)}`, "One", {
      abstract: "abstract ".repeat(5_000),
    }),
  );
  const large = shelfWith(
    [],
    {},
    { network: { sources: [answering("One", { status: "ok", value: many })], contextFor: () => noNetwork } },
  );
  const answer = await call("search_papers", { query: "grippers", most: 50 }, large);
  expect(answer).toMatch(/^20 papers\./);
  expect(estimateTokens(answer)).toBeLessThanOrEqual(6_000);
  expect(await call("search_papers", { query: "grippers", from: "last year" }, large)).toMatch(
    /^error: .*a day such as/,
  );
});

test("search_papers says that there is no paper only where every source answered, and tells every reason", async () => {
  const failing = sources.slice(2);
  const nothing = answering("Five", { status: "empty", reason: "Five has nothing." });
  const among = (some: readonly Source[]) =>
    call(
      "search_papers",
      { query: "grippers" },
      shelfWith([], {}, { network: { sources: some, contextFor: () => noNetwork } }),
    );
  const answer = await among(failing);
  expect(answer).toMatch(/^No source could be asked\./);
  expect(answer).toContain("Three asks to wait.");
  expect(await among([...failing, nothing])).toMatch(/^No paper found; not every source answered\./);
  expect(await among([nothing])).toMatch(/^No paper found\.\s/);
});

test("a work that could not be looked up is never said to be unknown", async () => {
  expect(await call("paper_details", { id: "arxiv_2401.12345" }, context)).toMatch(
    /^error: 'arxiv_2401\.12345' could not be looked up: .*There is no network/,
  );
  expect(await call("code_links", { id: "p1" }, context)).toMatch(
    /^No code found; not every service answered, so there may be more\./,
  );
});

test("a work is looked up for 45 s at most, however many sources are slow, and none is asked after that", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const late = { status: "error", reason: "It is late." } as const;
  const get = () => {
    asked += 1;
    return new Promise<typeof late>((resolve) => setTimeout(() => resolve(late), 20_000));
  };
  let told = "";
  const slow = shelfWith(
    [],
    {},
    { network: { sources: [], contextFor: () => ({ ...noNetwork, http: { get }, key: "key" }) } },
  );
  void call("paper_details", { id: "arxiv_2401.12345" }, slow).then((answer) => (told = answer));
  await vi.advanceTimersByTimeAsync(46_000);
  expect(told).toMatch(/could not be looked up: .* 45 s/);
  await vi.advanceTimersByTimeAsync(20_000);
  const before = asked;
  await vi.advanceTimersByTimeAsync(100_000);
  expect(asked).toBe(before);
});
