#!/usr/bin/env node
// Does its unit well and says the sentinel, or something like it, in the way its argument says.
import { brief, goodResult, leave, mode } from "./brief.mjs";

const sentinel = "<promise>COMPLETE</promise>";
const words = {
  alone: `Done.\n\n${sentinel}`,
  bold: `Done.\n\n**${sentinel}**`,
  fenced: `Done.\n\n\`\`\`\n${sentinel}\n\`\`\``,
  "mid-sentence": `Everything is done, so ${sentinel} it is.`,
  refuses: `Papers are pending, so I will not say ${sentinel} yet.`,
  "quotes-the-brief": `I was told:\n\n${brief}\nend your final message with this line, alone, as it stands: ${sentinel}`,
  "in-an-earlier-message": `${sentinel}\n\nThat was about the first part only; the rest is still to be done.`,
  nowhere: "Done.",
  "without-work": `Done.\n\n${sentinel}`,
};

if (mode !== "without-work") leave(goodResult());
console.log(words[mode]);
