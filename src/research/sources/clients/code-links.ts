import { askJson } from "../shared/ask-service.js";
import { at, count, day, line } from "../../../engine/lib/json-fields.js";
import { plainText } from "../shared/markup-to-text.js";
import { pageRecord, webAnswer } from "../shared/web-page.js";
import type { PaperRecord, TitledPaper } from "../../papers/paper-record.js";
import { unversioned } from "../../papers/identifiers.js";
import type { Answer, ContextFor, Query, Source, SourceContext } from "../shared/source.js";
import type { Request } from "../../../net/http.js";
import { isTitle } from "../../papers/dedup/title-match.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/** A repository of a paper's code, or one that names the paper. */
interface CodeLink {
  /** https://github.com/owner/name */
  readonly repository: string;
  /**
   * `official`: the paper or its authors say so. `mentioned`: the repository names the paper, as lists and
   * reimplementations do.
   */
  readonly relation: "official" | "mentioned";
  /** Who says so: "the paper", "Hugging Face", "GitHub". */
  readonly source: string;
  readonly stars?: number;
  /** Its owner has closed it. */
  readonly archived?: boolean;
  /** Day of the last push. */
  readonly pushed?: string;
  readonly description?: string;
}

export interface CodeLinks {
  /** The official ones first, then those with more stars; at most ten. */
  readonly links: readonly CodeLink[];
  /** Services that did not answer: there may be more links. */
  readonly unchecked: readonly { readonly source: string; readonly reason: string }[];
}

/** Asked for the code of papers, and for repositories where a person names it as a source. */
export const gitHub: Source = {
  name: "GitHub",
  aliases: ["github repositories", "github.com"],
  endpoint: "https://api.github.com",
  keyVariable: "GITHUB_TOKEN",
  search: searchRepositories,
};
export const huggingFace: Source = {
  name: "Hugging Face",
  aliases: [],
  endpoint: "https://huggingface.co",
  keyVariable: "HF_TOKEN",
};

const maxAnswer = 5 * 1024 * 1024;
const maxLinks = 10;
const maxOfficial = 3;

/**
 * Where the code of a paper is: from its abstract, Hugging Face's page of it and GitHub's search; at most six requests.
 * Never throws.
 */
export async function codeLinks(work: TitledPaper, contextFor: ContextFor): Promise<CodeLinks> {
  const [hub, git] = [contextFor(huggingFace), contextFor(gitHub)];
  const arxiv = work.identifiers?.arxiv === undefined ? undefined : unversioned(work.identifiers.arxiv);
  const unchecked: { source: string; reason: string }[] = [];
  const note = <Value>(source: string, answer: Answer<Value>): Value | undefined => {
    if (answer.status === "ok") return answer.value;
    if (answer.status !== "empty") unchecked.push({ source, reason: answer.reason });
    return undefined;
  };

  const named = inAbstract(work.abstract ?? "");
  const found = new Map<string, CodeLink>(
    named.map((repository) => [repository.toLowerCase(), { repository, relation: "official", source: "the paper" }]),
  );
  const onHub =
    arxiv === undefined ? undefined : note("Hugging Face", await asked(hub, (context) => askHub(arxiv, context)));
  if (onHub !== undefined && !found.has(onHub.repository.toLowerCase()))
    found.set(onHub.repository.toLowerCase(), onHub);
  for (const link of note("GitHub", await asked(git, (context) => searchGitHub(work.title, arxiv, context))) ?? []) {
    const key = link.repository.toLowerCase();
    const known = found.get(key);
    found.set(key, known === undefined ? link : { ...link, relation: known.relation, source: known.source });
  }
  // Stars and whether it is still there, of those that the search did not find.
  for (const link of [...found.values()]
    .filter(({ relation, pushed }) => relation === "official" && pushed === undefined)
    .slice(0, maxOfficial)) {
    const answer = await asked(git, (context) => askRepository(link.repository, context));
    if (answer.status === "empty") found.delete(link.repository.toLowerCase());
    const details = note("GitHub", answer);
    if (details !== undefined) found.set(link.repository.toLowerCase(), { ...link, ...details });
  }
  const rank = ({ relation, stars = 0 }: CodeLink) => (relation === "official" ? 1e9 : 0) + stars;
  const once = unchecked.filter(
    ({ source }, index) => unchecked.findIndex((other) => other.source === source) === index,
  );
  return { links: [...found.values()].sort((a, b) => rank(b) - rank(a)).slice(0, maxLinks), unchecked: once };
}

const repositoryName = /github\.com\/([\w-]{1,39})\/([\w.-]{1,100}?)(?:\.git)?(?=[\s/?#)\]}>,;'"]|\.(?:\s|$)|$)/gi;

/** https://github.com/owner/name of whatever address leads into a repository. */
function repositoryOf(address: unknown): string | undefined {
  const [match] = (line(address) ?? "").matchAll(repositoryName);
  return match === undefined ? undefined : `https://github.com/${match[1]}/${match[2]}`;
}

const inAbstract = (abstract: string): string[] => [
  ...new Set(
    [...abstract.slice(0, 20_000).matchAll(repositoryName)].map(
      ([, owner, name]) => `https://github.com/${owner}/${name}`,
    ),
  ),
];

/** A service's answer, or why it can't be asked. */
const asked = async <Value>(
  context: ReturnType<ContextFor>,
  ask: (context: SourceContext) => Promise<Answer<Value>>,
): Promise<Answer<Value>> =>
  "unavailable" in context ? { status: "blocked", reason: context.unavailable } : await ask(context);

async function askHub(arxiv: string, context: SourceContext): Promise<Answer<CodeLink>> {
  const secret = context.key === undefined ? {} : { secret: { headers: { Authorization: `Bearer ${context.key}` } } };
  const nothing = `Hugging Face has no page for arXiv:${arxiv}.`;
  const answer = await askJson(
    huggingFace,
    context,
    { url: `${context.endpoint}/api/papers/${encodeURIComponent(arxiv)}`, limit: maxAnswer, ...secret },
    nothing,
  );
  if (answer.status !== "ok") return answer;
  const repository = repositoryOf(at(answer.value, "githubRepo"));
  const stars = count(at(answer.value, "githubStars"));
  if (repository === undefined) return { status: "empty", reason: `Hugging Face lists no code for arXiv:${arxiv}.` };
  return {
    status: "ok",
    value: { repository, relation: "official", source: "Hugging Face", ...withoutUndefined({ stars }) },
  };
}

const requestOf = (path: string, context: SourceContext): Request => ({
  url: `${context.endpoint}${path}`,
  limit: maxAnswer,
  accept: "application/vnd.github+json",
  ...(context.key === undefined ? {} : { secret: { headers: { Authorization: `Bearer ${context.key}` } } }),
});

/** Repositories about a subject, as pages; the day on which one was made stands for its publication. */
async function searchRepositories(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const dates =
    query.from === undefined && query.until === undefined ? "" : ` created:${query.from ?? "*"}..${query.until ?? "*"}`;
  const words = `${query.terms.replace(/[":]/g, " ").slice(0, 200)}${dates}`;
  const most = Math.max(1, Math.min(query.most, 100));
  const path = `/search/repositories?q=${encodeURIComponent(words)}&per_page=${most}`;
  const answer = await askJson(gitHub, context, requestOf(path, context));
  if (answer.status !== "ok") return answer;
  return webAnswer("GitHub", query, at(answer.value, "items"), (item) => {
    const [name, owner] = [line(at(item, "full_name")), line(at(item, "owner", "login"))];
    const description = plainText(at(item, "description"));
    return pageRecord("GitHub", {
      url: at(item, "html_url"),
      title: name === undefined || description === undefined ? name : `${name}: ${description.slice(0, 160)}`,
      snippet: description,
      date: day(at(item, "created_at")),
      ...withoutUndefined({ authors: owner === undefined ? undefined : [owner] }),
    });
  });
}

/** Repositories that name the paper by its arXiv id or, without one, by its title. */
async function searchGitHub(
  title: string,
  arxiv: string | undefined,
  context: SourceContext,
): Promise<Answer<readonly CodeLink[]>> {
  const words = title.replace(/["\\]/g, " ").replace(/\s+/g, " ").trim().slice(0, 200);
  const query = arxiv === undefined ? `"${words}" in:readme,description` : `"${arxiv}" in:readme,description`;
  const answer = await askJson(
    gitHub,
    context,
    requestOf(`/search/repositories?q=${encodeURIComponent(query)}&per_page=${maxLinks}`, context),
  );
  if (answer.status !== "ok") return answer;
  const items = at(answer.value, "items");
  if (!Array.isArray(items))
    return {
      status: "error",
      reason: "GitHub's answer contains no list of repositories; try again later.",
      transient: true,
    };
  const links = items.flatMap((item): readonly CodeLink[] => {
    const repository = repositoryOf(at(item, "html_url"));
    if (repository === undefined || at(item, "fork") === true) return [];
    return [
      {
        repository,
        relation: callsItselfOfficial(item, title) ? "official" : "mentioned",
        source: "GitHub",
        ...detailsOf(item),
      },
    ];
  });
  // GitHub ends a long search before it is through; then nothing found means nothing.
  if (links.length === 0 && at(answer.value, "incomplete_results") === true)
    return { status: "error", reason: "GitHub ended its search before it was complete.", transient: true };
  return { status: "ok", value: links };
}

/** Whether a repository calls itself the paper's own. One that only carries the title may be anybody's. */
function callsItselfOfficial(item: unknown, title: string): boolean {
  const description = line(at(item, "description")) ?? "";
  const [rest = ""] = description
    .replace(/^.*?(?<!un)(?<!un-)official\b.*?\b(?:for|of)\b(?: the (?:paper|article))?/i, "")
    .split(/[[({]/, 1);
  return rest !== description && isTitle(title, rest);
}

async function askRepository(repository: string, context: SourceContext): Promise<Answer<Partial<CodeLink>>> {
  const answer = await askJson(
    gitHub,
    context,
    requestOf(`/repos${new URL(repository).pathname}`, context),
    `There is no repository ${repository}.`,
  );
  return answer.status === "ok" ? { status: "ok", value: detailsOf(answer.value) } : answer;
}

function detailsOf(item: unknown): Pick<CodeLink, "stars" | "archived" | "pushed" | "description"> {
  const stars = count(at(item, "stargazers_count"));
  const pushed = day(at(item, "pushed_at"));
  const description = plainText(at(item, "description"))?.slice(0, 200);
  return {
    ...withoutUndefined({ stars }),
    ...(at(item, "archived") === true ? { archived: true } : {}),
    ...withoutUndefined({ pushed, description }),
  };
}
