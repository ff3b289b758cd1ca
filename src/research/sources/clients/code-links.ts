import { askJson } from "../shared/ask-service.js";
import { valueAt, countFrom, dateFrom, lineFrom } from "../../../engine/lib/json-fields.js";
import { plainText } from "../shared/markup-to-text.js";
import { pageRecord, webAnswer } from "../shared/web-page.js";
import type { PaperRecord, TitledPaper } from "../../papers/paper-record.js";
import { withoutVersion } from "../../papers/identifiers.js";
import type { Answer, ContextFor, Query, Source, SourceContext } from "../shared/source.js";
import type { Request } from "../../../net/http.js";
import { isSearchedTitle } from "../../papers/dedup/title-match.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/** A repository with the code of a paper, or one that mentions the paper. */
interface CodeLink {
  /** The address, as https://github.com/owner/name. */
  readonly repository: string;
  /**
   * `official`: the paper or its authors name the repository. `mentioned`: the repository names the paper. This can be
   * a list of papers or another implementation.
   */
  readonly relation: "official" | "mentioned";
  /** Who states the relation: "the paper", "Hugging Face", "GitHub". */
  readonly source: string;
  readonly stars?: number;
  /** True if its owner has archived it. */
  readonly archived?: boolean;
  /** Day of the last push, YYYY-MM-DD. */
  readonly pushed?: string;
  readonly description?: string;
}

export interface CodeLinks {
  /** Official links first, then the others by stars; at most ten. */
  readonly links: readonly CodeLink[];
  /** Services that did not answer, so that links may be missing. */
  readonly unchecked: readonly { readonly source: string; readonly reason: string }[];
}

/** Queried for the code of papers. Also a source of repositories, if the user names it. */
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

const maxAnswerBytes = 5 * 1024 * 1024;
const maxLinks = 10;
const maxOfficial = 3;

/**
 * Finds the code of a paper through its abstract, the paper's page at Hugging Face and GitHub's search, with at most
 * six requests. Never throws.
 */
export async function codeLinks(work: TitledPaper, contextFor: ContextFor): Promise<CodeLinks> {
  const huggingFaceContext = contextFor(huggingFace);
  const gitHubContext = contextFor(gitHub);
  const arxiv = work.identifiers?.arxiv === undefined ? undefined : withoutVersion(work.identifiers.arxiv);
  const unchecked: { source: string; reason: string }[] = [];
  const takeValue = <Value>(source: string, answer: Answer<Value>): Value | undefined => {
    if (answer.status === "ok") return answer.value;
    if (answer.status !== "empty") unchecked.push({ source, reason: answer.reason });
    return undefined;
  };

  const repositoriesInAbstract = repositoriesIn(work.abstract ?? "");
  const linksByAddress = new Map<string, CodeLink>(
    repositoriesInAbstract.map((repository) => [
      repository.toLowerCase(),
      { repository, relation: "official", source: "the paper" },
    ]),
  );
  const huggingFaceLink =
    arxiv === undefined
      ? undefined
      : takeValue(
          "Hugging Face",
          await askIfAvailable(huggingFaceContext, (context) => askHuggingFace(arxiv, context)),
        );
  if (huggingFaceLink !== undefined && !linksByAddress.has(huggingFaceLink.repository.toLowerCase()))
    linksByAddress.set(huggingFaceLink.repository.toLowerCase(), huggingFaceLink);
  const gitHubAnswer = await askIfAvailable(gitHubContext, (context) => searchGitHub(work.title, arxiv, context));
  for (const link of takeValue("GitHub", gitHubAnswer) ?? []) {
    const key = link.repository.toLowerCase();
    const earlier = linksByAddress.get(key);
    linksByAddress.set(
      key,
      earlier === undefined ? link : { ...link, relation: earlier.relation, source: earlier.source },
    );
  }
  // Official links that the search did not find have no details yet.
  const linksWithoutDetails = [...linksByAddress.values()].filter(
    ({ relation, pushed }) => relation === "official" && pushed === undefined,
  );
  for (const link of linksWithoutDetails.slice(0, maxOfficial)) {
    const answer = await askIfAvailable(gitHubContext, (context) => askRepository(link.repository, context));
    if (answer.status === "empty") linksByAddress.delete(link.repository.toLowerCase());
    const details = takeValue("GitHub", answer);
    if (details !== undefined) linksByAddress.set(link.repository.toLowerCase(), { ...link, ...details });
  }
  // Official links first, whatever the number of stars of the others.
  const rank = ({ relation, stars = 0 }: CodeLink) => (relation === "official" ? 1e9 : 0) + stars;
  const distinctUnchecked = unchecked.filter(
    ({ source }, index) => unchecked.findIndex((other) => other.source === source) === index,
  );
  return {
    links: [...linksByAddress.values()].sort((a, b) => rank(b) - rank(a)).slice(0, maxLinks),
    unchecked: distinctUnchecked,
  };
}

const repositoryAddress = /github\.com\/([\w-]{1,39})\/([\w.-]{1,100}?)(?:\.git)?(?=[\s/?#)\]}>,;'"]|\.(?:\s|$)|$)/gi;

/** https://github.com/owner/name from any address inside the repository. */
function repositoryOf(address: unknown): string | undefined {
  const [match] = (lineFrom(address) ?? "").matchAll(repositoryAddress);
  return match === undefined ? undefined : `https://github.com/${match[1]}/${match[2]}`;
}

const repositoriesIn = (abstract: string): string[] => [
  ...new Set(
    [...abstract.slice(0, 20_000).matchAll(repositoryAddress)].map(
      ([, owner, name]) => `https://github.com/${owner}/${name}`,
    ),
  ),
];

/** Queries a service if it has a context. Otherwise the answer is the reason why it can't be queried. */
const askIfAvailable = async <Value>(
  context: ReturnType<ContextFor>,
  ask: (context: SourceContext) => Promise<Answer<Value>>,
): Promise<Answer<Value>> =>
  "unavailable" in context ? { status: "blocked", reason: context.unavailable } : await ask(context);

async function askHuggingFace(arxiv: string, context: SourceContext): Promise<Answer<CodeLink>> {
  const secret = context.key === undefined ? {} : { secret: { headers: { Authorization: `Bearer ${context.key}` } } };
  const emptyReason = `Hugging Face has no page for arXiv:${arxiv}.`;
  const answer = await askJson(
    huggingFace,
    context,
    { url: `${context.endpoint}/api/papers/${encodeURIComponent(arxiv)}`, limit: maxAnswerBytes, ...secret },
    emptyReason,
  );
  if (answer.status !== "ok") return answer;
  const repository = repositoryOf(valueAt(answer.value, "githubRepo"));
  const stars = countFrom(valueAt(answer.value, "githubStars"));
  if (repository === undefined) return { status: "empty", reason: `Hugging Face lists no code for arXiv:${arxiv}.` };
  return {
    status: "ok",
    value: { repository, relation: "official", source: "Hugging Face", ...withoutUndefined({ stars }) },
  };
}

const requestOf = (path: string, context: SourceContext): Request => ({
  url: `${context.endpoint}${path}`,
  limit: maxAnswerBytes,
  accept: "application/vnd.github+json",
  ...(context.key === undefined ? {} : { secret: { headers: { Authorization: `Bearer ${context.key}` } } }),
});

/** Repositories about a subject, as pages. The day of creation becomes the date of publication. */
async function searchRepositories(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const dates =
    query.from === undefined && query.until === undefined ? "" : ` created:${query.from ?? "*"}..${query.until ?? "*"}`;
  const words = `${query.terms.replace(/[":]/g, " ").slice(0, 200)}${dates}`;
  const maxResults = Math.max(1, Math.min(query.most, 100));
  const path = `/search/repositories?q=${encodeURIComponent(words)}&per_page=${maxResults}`;
  const answer = await askJson(gitHub, context, requestOf(path, context));
  if (answer.status !== "ok") return answer;
  return webAnswer("GitHub", query, valueAt(answer.value, "items"), (item) => {
    const [name, owner] = [lineFrom(valueAt(item, "full_name")), lineFrom(valueAt(item, "owner", "login"))];
    const description = plainText(valueAt(item, "description"));
    return pageRecord("GitHub", {
      url: valueAt(item, "html_url"),
      title: name === undefined || description === undefined ? name : `${name}: ${description.slice(0, 160)}`,
      snippet: description,
      date: dateFrom(valueAt(item, "created_at")),
      ...withoutUndefined({ authors: owner === undefined ? undefined : [owner] }),
    });
  });
}

/** Repositories that mention the paper's arXiv id, or its title if it has no id. */
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
  const items = valueAt(answer.value, "items");
  if (!Array.isArray(items))
    return {
      status: "error",
      reason: "GitHub's answer contains no list of repositories; try again later.",
      transient: true,
    };
  const links = items.flatMap((item): readonly CodeLink[] => {
    const repository = repositoryOf(valueAt(item, "html_url"));
    if (repository === undefined || valueAt(item, "fork") === true) return [];
    return [
      {
        repository,
        relation: callsItselfOfficial(item, title) ? "official" : "mentioned",
        source: "GitHub",
        ...detailsOf(item),
      },
    ];
  });
  // GitHub stops long searches early. Then an empty list does not mean that there are no repositories.
  if (links.length === 0 && valueAt(answer.value, "incomplete_results") === true)
    return { status: "error", reason: "GitHub ended its search before it was complete.", transient: true };
  return { status: "ok", value: links };
}

/** Whether the description says that this is the official repository of the paper. The title alone is not enough. */
function callsItselfOfficial(item: unknown, title: string): boolean {
  const description = lineFrom(valueAt(item, "description")) ?? "";
  const [titleText = ""] = description
    .replace(/^.*?(?<!un)(?<!un-)official\b.*?\b(?:for|of)\b(?: the (?:paper|article))?/i, "")
    .split(/[[({]/, 1);
  return titleText !== description && isSearchedTitle(title, titleText);
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
  const stars = countFrom(valueAt(item, "stargazers_count"));
  const pushed = dateFrom(valueAt(item, "pushed_at"));
  const description = plainText(valueAt(item, "description"))?.slice(0, 200);
  return {
    ...withoutUndefined({ stars }),
    ...(valueAt(item, "archived") === true ? { archived: true } : {}),
    ...withoutUndefined({ pushed, description }),
  };
}
