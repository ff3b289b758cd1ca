import { expect, it } from "vitest";
import { plainView } from "../../../src/assistant/dialogue/plain-view.js";
import { fakeIo } from "../../engine/ui/fake-io.js";

it("words before a call of a tool stand on a line of their own, apart from the answer", () => {
  const io = fakeIo();
  const view = plainView(io);
  view.tell({ type: "text", text: "Let me look" });
  view.tell({ type: "tool", name: "file_read", input: {} });
  view.tell({ type: "tool", name: "file_read", input: {} });
  view.tell({ type: "text", text: "42" });
  expect(io.out()).toBe("Let me look\n42");
});
