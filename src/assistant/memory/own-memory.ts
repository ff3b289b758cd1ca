import { join } from "node:path";
import { type ConfigKeys, isLoopback } from "../../engine/config/keys.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { embeddingService, lexicalEmbedder } from "../../memory/embedder.js";
import { type Memory, openMemory } from "../../memory/memory.js";
import type { Io } from "../../engine/ui/io.js";
import { isOfficialAddress, providerOf } from "../providers.js";
import { readSettings, settingsFolder } from "../settings.js";

/** The path of the user's memory. */
export const memoryPath = (env: NodeJS.ProcessEnv): string => join(settingsFolder(env), "memory.db");

/** The default model of OpenAI's embedding service. https://platform.openai.com/docs/guides/embeddings */
const defaultModel = "text-embedding-3-small";

/**
 * Opens the user's memory with the embedding service of the settings, or with the built-in embedder. Resolves with a
 * sentence if it can't be opened.
 */
export async function openUserMemory(
  io: Io,
  keys: ConfigKeys,
  fetch: typeof globalThis.fetch,
): Promise<Memory | string> {
  const { values } = await readSettings({ keys, ...io }, ["embedding_api_url"]);
  const {
    embedding_api_url: url = "",
    embedding_model: model = defaultModel,
    openai_api_key: configuredKey = "",
  } = values;
  if (url === "") return await openMemory(memoryPath(io.env), lexicalEmbedder);
  const embeddingProvider = providerOf(url, "embedding_api_url");
  // As for models, a key of the environment is sent only to its provider or to this machine.
  const environmentKey =
    isOfficialAddress(embeddingProvider.provider, embeddingProvider.url) || isLoopback(embeddingProvider.url)
      ? (io.env["OPENAI_API_KEY"] ?? "")
      : "";
  const key = environmentKey === "" ? configuredKey : environmentKey;
  return await openMemory(
    memoryPath(io.env),
    embeddingService({ url, model: model === "" ? defaultModel : model, fetch, ...(key === "" ? {} : { key }) }),
  );
}

/**
 * The error message if a later version of the program wrote the memory. The file is not changed.
 */
function newerFormatMessage(error: unknown): string {
  if (error instanceof ExpectedError && error.exitCode === 5) return error.message;
  throw error;
}

/** The user's memory, opened when it is first needed. */
export function lazyMemory(
  io: Io,
  keys: ConfigKeys,
  fetch: typeof globalThis.fetch,
): { open(): Promise<Memory | string>; close(): Promise<void> } {
  let memoryPromise: Promise<Memory | string> | undefined;
  return {
    open: async () => await (memoryPromise ??= openUserMemory(io, keys, fetch).catch(newerFormatMessage)),
    async close() {
      const memory = await memoryPromise;
      if (typeof memory === "object") await memory.close();
    },
  };
}
