import { fileURLToPath } from "node:url";
import { valueAt, lineFrom, listFrom } from "../../../engine/lib/json-fields.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import { recordOf } from "../../papers/records/listed-papers.js";
import { entryOf } from "../../papers/records/normalise-entry.js";
import { zoteroFields } from "../../papers/records/zotero-item.js";
import { askJson, askText, type NoAnswer } from "../shared/ask-service.js";
import type { Answer, Source, SourceContext } from "../shared/source.js";

const pageSize = 100;
const maxItems = 20_000;
const maxAnswerBytes = 50 * 1024 * 1024;
const libraryPath = "/api/users/0";

/**
 * The user's Zotero on this machine, if its settings allow other programs access (Zotero 7 and later). Nothing is
 * written to it.
 */
export const zotero = {
  name: "Zotero",
  aliases: ["zotero"],
  endpoint: "http://127.0.0.1:23119",
  local: true,
} satisfies Source;

/** The works of a collection or of the whole library, with the local addresses of their PDFs. */
export const zoteroSource = (name: string, collection: string | undefined): Source => ({
  ...zotero,
  name,
  search: async (_query, context) => {
    const paths = collection === undefined ? [libraryPath] : await collectionPaths(collection, context);
    if (!Array.isArray(paths)) return paths;
    const items: Item[] = [];
    for (const path of paths) {
      const answer = await itemsAt(`${path}/items`, context);
      if (!Array.isArray(answer)) return answer;
      items.push(...answer);
    }
    return await recordsOf(items, context);
  },
});

interface Item {
  readonly key: string;
  readonly data: unknown;
}

/** Requests all entries of a list, page by page. Returns the failure if Zotero did not answer. */
async function itemsAt(path: string, context: SourceContext): Promise<Item[] | NoAnswer> {
  const items: Item[] = [];
  for (let start = 0; start < maxItems; start += pageSize) {
    const url = `${context.endpoint}${path}?format=json&limit=${pageSize}&start=${start}`;
    const answer = await askJson(zotero, context, { url, limit: maxAnswerBytes, skipsCache: true });
    if (answer.status !== "ok") return withAdvice(answer);
    const page = listFrom(answer.value);
    items.push(...page.flatMap((entry) => itemOf(entry) ?? []));
    if (page.length < pageSize) break;
  }
  return items;
}

function itemOf(value: unknown): Item | undefined {
  const key = lineFrom(valueAt(value, "key"));
  return key === undefined ? undefined : { key, data: valueAt(value, "data") };
}

const withAdvice = (answer: NoAnswer): NoAnswer => ({
  ...answer,
  reason: `${answer.reason.replace(/\.$/, "")}; start Zotero, and allow other applications on this computer to communicate with it (Settings, Advanced).`,
});

/** The paths of all collections with this name, with sub-collections. */
async function collectionPaths(collectionName: string, context: SourceContext): Promise<string[] | NoAnswer> {
  const collections = await itemsAt(`${libraryPath}/collections`, context);
  if (!Array.isArray(collections)) return collections;
  const nameOf = ({ data }: Item) => lineFrom(valueAt(data, "name")) ?? "";
  const paths = collections
    .filter((entry) => nameOf(entry).toLowerCase() === collectionName.toLowerCase())
    .map(({ key }) => `${libraryPath}/collections/${key}`);
  if (paths.length > 0) return paths;
  const names = collections.map(nameOf).slice(0, 10).join(", ");
  return {
    status: "error",
    reason: `Zotero has no collection '${collectionName}'; it has ${names === "" ? "none" : names}.`,
  };
}

async function recordsOf(items: readonly Item[], context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const uniqueItems = [...new Map(items.map((item) => [item.key, item])).values()];
  const pdfKeyByParent = new Map<string, string>();
  for (const { key, data } of uniqueItems) {
    const parent = lineFrom(valueAt(data, "parentItem"));
    if (valueAt(data, "contentType") === "application/pdf" && parent !== undefined && !pdfKeyByParent.has(parent))
      pdfKeyByParent.set(parent, key);
  }
  const records: PaperRecord[] = [];
  for (const { key, data } of uniqueItems) {
    const record = recordOfItem(data);
    if (record === undefined) continue;
    const pdfKey = pdfKeyByParent.get(key);
    const file = pdfKey === undefined ? undefined : await fileOf(pdfKey, context);
    records.push(file === undefined ? record : { ...record, pdf_url: file });
  }
  return records.length === 0
    ? { status: "empty", reason: "Zotero has no works in this collection or library." }
    : { status: "ok", value: records, total: records.length };
}

/** The address of an attached file on this machine; undefined if Zotero has not stored it here. */
async function fileOf(key: string, context: SourceContext): Promise<string | undefined> {
  const url = `${context.endpoint}${libraryPath}/items/${key}/file/view/url`;
  const answer = await askText(zotero, context, { url, limit: 10_000, skipsCache: true });
  const address = answer.status === "ok" ? answer.value.trim() : "";
  return /^file:\/\//i.test(address) && isFileAddress(address) ? address : undefined;
}

function isFileAddress(address: string): boolean {
  try {
    return fileURLToPath(address) !== "";
  } catch {
    return false;
  }
}

/** The work in an item of Zotero; undefined for notes, attachments and items without a title. */
function recordOfItem(data: unknown): PaperRecord | undefined {
  const fields = zoteroFields(data);
  const entry = fields && entryOf(fields, fields.key ?? "item");
  if (entry === undefined) return undefined;
  const database = entry.database ?? "Zotero";
  return { ...recordOf(entry, database), database };
}
