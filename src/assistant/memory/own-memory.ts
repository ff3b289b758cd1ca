import { join } from "node:path";
import { type ConfigKeys, isLoopback } from "../../engine/config/keys.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { embeddingService, lexical } from "../../memory/embedder.js";
import { type Memory, openMemory } from "../../memory/memory.js";
import type { Io } from "../../engine/ui/io.js";
import { isMakers, providerOf } from "../providers.js";
import { ownFile, ownFolder } from "../settings.js";

/** Where the user's memory lies. */
export const memoryPath = (env: NodeJS.ProcessEnv): string => join(ownFolder(env), "memory.db");

/** The default of OpenAI's embedding service. https://platform.openai.com/docs/guides/embeddings */
const defaultModel = "text-embedding-3-small";

/**
 * The user's own memory, with the embedding service of the settings, else the built-in embedder. Resolves with one
 * sentence where it can't be opened.
 */
export async function openOwnMemory(
  io: Io,
  keys: ConfigKeys,
  fetch: typeof globalThis.fetch,
): Promise<Memory | string> {
  const assistant = await ownFile({ keys, ...io }, ["embedding_api_url"]);
  const {
    embedding_api_url: url = "",
    embedding_model: model = defaultModel,
    openai_api_key: own = "",
  } = assistant?.written ?? {};
  if (url === "") return await openMemory(memoryPath(io.env), lexical);
  const where = providerOf(url, "embedding_api_url");
  // As with models: a key of the environment goes to its maker and this machine alone.
  const fromEnvironment =
    isMakers(where.provider, where.url) || isLoopback(where.url) ? (io.env["OPENAI_API_KEY"] ?? "") : "";
  const key = fromEnvironment === "" ? own : fromEnvironment;
  return await openMemory(
    memoryPath(io.env),
    embeddingService({ url, model: model === "" ? defaultModel : model, fetch, ...(key === "" ? {} : { key }) }),
  );
}

/** A memory of a later version keeps nobody from a conversation: it is told of, and left alone. */
function withoutLater(error: unknown): string {
  if (error instanceof ExpectedError && error.exitCode === 5) return error.message;
  throw error;
}

/** The same memory, opened by the first who needs it; kept for the next. */
export function memoryLater(
  io: Io,
  keys: ConfigKeys,
  fetch: typeof globalThis.fetch,
): { open(): Promise<Memory | string>; close(): Promise<void> } {
  let opened: Promise<Memory | string> | undefined;
  return {
    open: async () => await (opened ??= openOwnMemory(io, keys, fetch).catch(withoutLater)),
    async close() {
      const memory = await opened;
      if (typeof memory === "object") await memory.close();
    },
  };
}
