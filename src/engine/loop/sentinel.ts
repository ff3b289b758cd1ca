export const sentinel = "<promise>COMPLETE</promise>";

/** Characters before and behind the sentinel that are looked at; nobody puts more marks around it. */
const around = 100;

/**
 * Whether the sentinel stands alone on a line of the final message, white space and Markdown marks aside. Mentioning it
 * is not saying it. Each place is looked at by itself: a message may have megabytes.
 */
export function saysComplete(message: string): boolean {
  for (let at = message.indexOf(sentinel); at !== -1; at = message.indexOf(sentinel, at + 1)) {
    const before =
      message
        .slice(Math.max(0, at - around - 1), at)
        .split("\n")
        .at(-1) ?? "";
    const behind = message.slice(at + sentinel.length, at + sentinel.length + around + 1).split("\n")[0] ?? "";
    if (before.length > around || behind.length > around) continue;
    if (/^[\s*_~`>#-]*$/.test(before) && /^[\s*_~`]*$/.test(behind)) return true;
  }
  return false;
}
