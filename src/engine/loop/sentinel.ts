export const sentinel = "<promise>COMPLETE</promise>";

/** Whether the sentinel stands alone on a line of the final message, white space and Markdown marks aside. Mentioning it is not saying it. */
export const saysComplete = (message: string): boolean =>
  message.split(/\r?\n/).some((line) => line.replace(/^[\s*_~`>#-]+|[\s*_~`]+$/g, "") === sentinel);
