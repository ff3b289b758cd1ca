import { hostOf } from "../../../engine/process/access.js";
import type { NewEvent } from "../../../engine/loop/types.js";
import type { DescribedSource, PluginAnswer, SourceRecord } from "../../../engine/generated/plugin.js";
import type { LoadedPlugin } from "../../../engine/plugins/plugins.js";
import { identifiersFrom, paperRecord } from "../../../research/papers/identifiers.js";
import type { PaperRecord } from "../../../research/papers/paper-record.js";
import { askText, collectPages, type Page, pageOf } from "../../../research/sources/shared/ask-service.js";
import type { Answer, Query, Source, SourceContext } from "../../../research/sources/shared/source.js";

/** Bytes of an answer: it goes to the plugin's process and stays in memory. */
const maxAnswer = 2_000_000;

/** The sources of a plugin, and a sentence for each that may not be asked. */
export function sourcesOf(plugin: LoadedPlugin): { readonly sources: Source[]; readonly refused: string[] } {
  const mayAsk = ({ endpoint }: DescribedSource) => plugin.hosts.includes(hostOf(endpoint));
  return {
    sources: plugin.sources.flatMap((described, index) =>
      mayAsk(described) ? [sourceOf(plugin, described, index)] : [],
    ),
    refused: plugin.sources
      .filter((described) => !mayAsk(described))
      .map(
        ({ id, endpoint }) =>
          `The source ${id} of the plugin ${plugin.name} is not asked: add ${hostOf(endpoint)} to allow.hosts of the plugin.`,
      ),
  };
}

/** Where the first page begins. */
const first = "";

function sourceOf(plugin: LoadedPlugin, { id, endpoint }: DescribedSource, index: number): Source {
  const source: Source = {
    name: id,
    aliases: [id.toLowerCase()],
    endpoint: endpoint.replace(/(?<!\/)\/+$/, ""),
    search: ({ terms, from, until, most }, context) =>
      collectPages<string | number>(
        most,
        first,
        (cursor) => {
          const next = cursor === first ? undefined : cursor;
          return page(source, plugin, index, { terms, most, from, until, next }, context);
        },
        `${id} has no results for '${terms}' in this period.`,
      ),
  };
  return source;
}

type Search = Pick<Query, "terms" | "from" | "until" | "most"> & { readonly next?: string | number };

/** One page: the plugin says what to ask, the service is asked as any other, the plugin reads the answer. */
async function page(
  source: Source,
  plugin: LoadedPlugin,
  index: number,
  search: Search,
  context: SourceContext,
): Promise<Answer<Page<string | number>>> {
  const ask = (name: "search" | "read", kind: keyof PluginAnswer, input: object) =>
    plugin.call({ call: ["sources", index, name], kind, input, isOffline: true });
  const { answer: asked, told } = await ask("search", "request", search);
  if (asked?.request === undefined) return { status: "error", reason: reasonIn(told, plugin) };
  const { path, accept } = asked.request;
  const answer = await askText(source, context, { url: `${context.endpoint}${path}`, limit: maxAnswer, accept });
  if (answer.status !== "ok") return answer;
  const { answer: read, told: problems } = await ask("read", "page", { text: answer.value, search });
  if (read?.page === undefined) return { status: "error", reason: reasonIn(problems, plugin) };
  const { records, total, next } = read.page;
  return pageOf(records, (record) => recordOf(record as SourceRecord, source.name), { total, next });
}

/** What was said when a plugin failed: it is left out after that, and says nothing in later calls. */
const failures = new WeakMap<LoadedPlugin, string>();

function reasonIn([told]: readonly NewEvent[], plugin: LoadedPlugin): string {
  if (told?.type === "notice") failures.set(plugin, told.message);
  return failures.get(plugin) ?? `The plugin ${plugin.name} is left out, or has answered nothing.`;
}

const recordOf = ({ doi, arxiv, pmid, ...record }: SourceRecord, source: string): PaperRecord | undefined =>
  paperRecord({ ...record, source, identifiers: identifiersFrom({ doi, arxiv, pmid }) });
