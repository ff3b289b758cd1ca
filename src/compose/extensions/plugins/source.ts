import { hostOf } from "../../../engine/process/access.js";
import type { NewEvent } from "../../../engine/loop/types.js";
import type { PluginAnswer } from "../../../engine/generated/plugin.js";
import type { DescribedSource, SourceRecord } from "../../../research/sources/generated/plugin.js";
import type { LoadedPlugin } from "../../../engine/plugins/plugins.js";
import { identifiersFrom, paperRecord } from "../../../research/papers/identifiers.js";
import type { PaperRecord } from "../../../research/papers/paper-record.js";
import { askText, collectPages, type Page, pageOf } from "../../../research/sources/shared/ask-service.js";
import type { Answer, Query, Source, SourceContext } from "../../../research/sources/shared/source.js";

/** Maximum size of an answer: it is sent to the plugin's process and stays in memory. */
const maxAnswerBytes = 2_000_000;

/** The sources of a plugin, and a sentence for each source that may not be used. */
export function sourcesOf(plugin: LoadedPlugin): { readonly sources: Source[]; readonly refused: string[] } {
  const mayAsk = ({ endpoint }: DescribedSource) => plugin.hosts.includes(hostOf(endpoint));
  return {
    sources: plugin.sources.flatMap((source, index) => (mayAsk(source) ? [sourceOf(plugin, source, index)] : [])),
    refused: plugin.sources
      .filter((source) => !mayAsk(source))
      .map(
        ({ id, endpoint }) =>
          `The source ${id} of the plugin ${plugin.name} is not asked: add ${hostOf(endpoint)} to allow.hosts of the plugin.`,
      ),
  };
}

/** The cursor of the first page. */
const firstCursor = "";

function sourceOf(plugin: LoadedPlugin, { id, endpoint }: DescribedSource, index: number): Source {
  const source: Source = {
    name: id,
    aliases: [id.toLowerCase()],
    endpoint: endpoint.replace(/(?<!\/)\/+$/, ""),
    search: ({ terms, from, until, most }, context) =>
      collectPages<string | number>(
        most,
        firstCursor,
        (cursor) => {
          const next = cursor === firstCursor ? undefined : cursor;
          return fetchPage(source, plugin, index, { terms, most, from, until, next }, context);
        },
        `${id} has no results for '${terms}' in this period.`,
      ),
  };
  return source;
}

type Search = Pick<Query, "terms" | "from" | "until" | "most"> & { readonly next?: string | number };

/** One page of results: the plugin makes the request, this program sends it, and the plugin reads the answer. */
async function fetchPage(
  source: Source,
  plugin: LoadedPlugin,
  index: number,
  search: Search,
  context: SourceContext,
): Promise<Answer<Page<string | number>>> {
  const ask = (name: "search" | "read", kind: keyof PluginAnswer, input: object) =>
    plugin.call({ call: ["sources", index, name], kind, input, isOffline: true });
  const { answer: requestAnswer, notices } = await ask("search", "request", search);
  if (requestAnswer?.request === undefined) return { status: "error", reason: failureReason(notices, plugin) };
  const { path, accept } = requestAnswer.request;
  const answer = await askText(source, context, { url: `${context.endpoint}${path}`, limit: maxAnswerBytes, accept });
  if (answer.status !== "ok") return answer;
  const { answer: pageAnswer, notices: problems } = await ask("read", "page", { text: answer.value, search });
  if (pageAnswer?.page === undefined) return { status: "error", reason: failureReason(problems, plugin) };
  const { records, total, next } = pageAnswer.page;
  return pageOf(records, (record) => recordOf(record as SourceRecord, source.name), { total, next });
}

/** The message of a plugin's failure. A failed plugin is not called again, so later calls give no message. */
const lastFailures = new WeakMap<LoadedPlugin, string>();

function failureReason([notice]: readonly NewEvent[], plugin: LoadedPlugin): string {
  if (notice?.type === "notice") lastFailures.set(plugin, notice.message);
  return lastFailures.get(plugin) ?? `The plugin ${plugin.name} is left out, or has answered nothing.`;
}

const recordOf = ({ doi, arxiv, pmid, ...record }: SourceRecord, source: string): PaperRecord | undefined =>
  paperRecord({ ...record, source, identifiers: identifiersFrom({ doi, arxiv, pmid }) });
