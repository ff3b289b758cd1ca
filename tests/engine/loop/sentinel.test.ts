import { describe, expect, test } from "vitest";
import { saysComplete, sentinel } from "../../../src/engine/loop/sentinel.js";

describe("the sentinel", () => {
  test.each([
    sentinel,
    `Done.\n${sentinel}`,
    `**${sentinel}**`,
    `  \`${sentinel}\`  `,
    `> ${sentinel}`,
    `\`\`\`\n${sentinel}\n\`\`\``,
    `ok\r\n${sentinel}\r\n`,
  ])("counts alone on its line: %j", (message) => {
    expect(saysComplete(message)).toBe(true);
  });
  test("is found among megabytes, and missed in none", () => {
    const many = "say <promise>COMPLETE</promise> ".repeat(200_000);
    expect([saysComplete(many), saysComplete(`${many}\n${sentinel}`)]).toEqual([false, true]);
    for (const noise of ["\n", " ", "`", "> "])
      expect([saysComplete(noise.repeat(4_000_000)), saysComplete(`${noise.repeat(4_000_000)}x`)]).toEqual([
        false,
        false,
      ]);
    expect(saysComplete(`${"\n".repeat(4_000_000)}${sentinel}${"\n".repeat(4_000_000)}`)).toBe(true);
  });
  test.each([
    "",
    "COMPLETE",
    `I will not output ${sentinel} yet.`,
    `${sentinel} is what I would say.`,
    `Say "${sentinel}"`,
    "<promise>COMPLETE</promise",
    "<promise>complete</promise>",
  ])("does not count when it is only mentioned: %j", (message) => {
    expect(saysComplete(message)).toBe(false);
  });
});
