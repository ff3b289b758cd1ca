/** Characters of a name that all providers take. https://platform.openai.com/docs/guides/function-calling */
const maxName = 64;

/**
 * The name under which a model knows a tool of a server: `mcp_<server>_<tool>`, in letters that every provider takes,
 * at most 64 of them; a number is put behind a name that another tool in `taken` has.
 */
export function toolName(server: string, tool: string, taken: { has(name: string): boolean }): string {
  const name = `mcp_${server}_${tool}`.replace(/[^A-Za-z0-9_-]+/g, "_");
  for (let number = 1; ; number += 1) {
    const ending = number === 1 ? "" : `_${number}`;
    const candidate = name.slice(0, maxName - ending.length) + ending;
    if (!taken.has(candidate)) return candidate;
  }
}
