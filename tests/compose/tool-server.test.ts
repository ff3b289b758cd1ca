import { expect, test } from "vitest";
import { toolsOf } from "../../src/compose/tools.js";

const way = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "NODE_EXTRA_CA_CERTS"];
const keys = ["OPENALEX_API_KEY", "GITHUB_TOKEN", "HF_TOKEN", "OWN_KEY_OF_S2", "SEMANTIC_SCHOLAR_API_KEY"];
const env = Object.fromEntries([...way, ...keys, "AWS_SECRET_ACCESS_KEY"].map((name) => [name, "set"]));
const serve = toolsOf(
  ["/research"],
  { sources: { "Semantic Scholar": { key_variable: "OWN_KEY_OF_S2" } }, stateDir: "/state" },
  env,
);

test("a server of tools that search gets the keys of what it asks, and the machine's way to the network", () => {
  expect(new Set(serve(["search_papers"]).env)).toEqual(new Set(["OPENALEX_API_KEY", "OWN_KEY_OF_S2", ...way]));
  expect(serve(["code_links"]).env).toEqual(expect.arrayContaining(["GITHUB_TOKEN", "HF_TOKEN"]));
});

test("a server of tools about one paper, which ask nothing outside, gets nothing of the environment", () => {
  expect(serve(["outline"], "p1").env).toEqual([]);
});

test("a server of tools for several projects reads them all, and asks and writes nothing", () => {
  const several = toolsOf(["/one", "/two"], { sources: {}, stateDir: "/state" }, env)(["find_passages"]);
  expect(several.args.slice(1)).toEqual([
    ...["mcp", "--research", "/one", "--research", "/two", "--tools", "find_passages"],
  ]);
  expect(several).toMatchObject({ env: [], inProcess: { read: ["/one", "/two"], write: [] } });
});

test("a program that has the tools in its own process may write where the pace of hosts and answers are kept", () => {
  expect(serve(["search_papers"]).inProcess).toEqual({
    flags: ["--research", "/research", "--tools", "search_papers"],
    read: ["/research"],
    write: ["/research/queries.jsonl", "/state/hosts", "/state/http"],
  });
  expect(serve(["outline"], "-p1").inProcess).toEqual({
    flags: ["--research", "/research", "--tools", "outline", "--paper=-p1"],
    read: ["/research"],
    write: [],
  });
});
