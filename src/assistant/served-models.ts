/** Maximum milliseconds until a server sends its list of models. */
const timeoutMs = 2_000;

/**
 * The models that an OpenAI-compatible server offers; undefined if it does not answer. `chatUrl`: the address of its
 * chat completions. https://platform.openai.com/docs/api-reference/models/list
 */
export async function servedModels(
  chatUrl: URL,
  key: string | undefined,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Promise<readonly string[] | undefined> {
  const listUrl = `${chatUrl.origin}${chatUrl.pathname.replace(/\/chat\/completions\/?$|\/$/, "")}/models${chatUrl.search}`;
  try {
    const response = await fetch(listUrl, {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      // A redirect would send the key to another host.
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) return undefined;
    const { data } = (await response.json()) as { readonly data?: unknown };
    if (!Array.isArray(data)) return undefined;
    const names = data.flatMap((model: { readonly id?: unknown } | null) =>
      typeof model?.id === "string" && model.id !== "" ? [model.id] : [],
    );
    return names.length === 0 ? undefined : names;
  } catch {
    // If the server does not answer, the first request to it reports the error.
    return undefined;
  }
}
