export const sentinel = "<promise>COMPLETE</promise>";

/** Maximum number of characters before and after the sentinel on its line; Markdown marks take fewer. */
const maxMarkChars = 100;

/**
 * Whether the sentinel is alone on a line of the final message, apart from white space and Markdown marks. A sentence
 * that mentions it does not count. Each occurrence is checked separately, because a message may have megabytes.
 */
export function saysComplete(message: string): boolean {
  for (let index = message.indexOf(sentinel); index !== -1; index = message.indexOf(sentinel, index + 1)) {
    const textBefore =
      message
        .slice(Math.max(0, index - maxMarkChars - 1), index)
        .split("\n")
        .at(-1) ?? "";
    const textAfter =
      message.slice(index + sentinel.length, index + sentinel.length + maxMarkChars + 1).split("\n")[0] ?? "";
    if (textBefore.length > maxMarkChars || textAfter.length > maxMarkChars) continue;
    if (/^[\s*_~`>#-]*$/.test(textBefore) && /^[\s*_~`]*$/.test(textAfter)) return true;
  }
  return false;
}
