import { expect, test } from "vitest";
import { main } from "../../../src/commands/main.js";
import { ioIn, type } from "../../support/processes/in-process.js";
import { freshFolder } from "../../support/projects/research-folder.js";

test("without an agent, the first steps say what can be installed before a topic is asked for", async () => {
  const cwd = freshFolder();
  const io = ioIn(cwd, { PATH: cwd }, { canAsk: true });
  type(io, "\r");
  expect(await main([], io, "0.0.0")).toBe(1);
  expect(io.err()).toMatch(/^research-ralph: No agent is installed here\. .*--agent baseline neither/);
});
