/** Milliseconds in which a server must have said what it offers. */
const askMs = 2_000;

/**
 * The models that an OpenAI-compatible server says it offers; undefined where it does not say. `chat`: the address of
 * its chat completions. https://platform.openai.com/docs/api-reference/models/list
 */
export async function servedModels(
  chat: URL,
  key: string | undefined,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Promise<readonly string[] | undefined> {
  const list = `${chat.origin}${chat.pathname.replace(/\/chat\/completions\/?$|\/$/, "")}/models${chat.search}`;
  try {
    const response = await fetch(list, {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      // A key would go along.
      redirect: "error",
      signal: AbortSignal.timeout(askMs),
    });
    if (!response.ok) return undefined;
    const { data } = (await response.json()) as { readonly data?: unknown };
    if (!Array.isArray(data)) return undefined;
    const names = data.flatMap((each: { readonly id?: unknown } | null) =>
      typeof each?.id === "string" && each.id !== "" ? [each.id] : [],
    );
    return names.length === 0 ? undefined : names;
  } catch {
    // A server that does not answer is told of by the request that it is needed for.
    return undefined;
  }
}
