import { expect, test } from "vitest";
import { createRepainter } from "../../../../src/engine/ui/terminal/repaint.js";
import { type FakeIo, fakeIo } from "../fake-io.js";

test("a table that a narrower window has wrapped is painted over whole, colours not counted", () => {
  let columns = 80;
  const io = Object.defineProperty(fakeIo({ isTTY: true }), "columns", { get: () => columns }) as FakeIo;
  const screen = createRepainter(io);
  screen.paint([], ["x".repeat(75), "\u001b[2mshort\u001b[22m"]);
  const painted = io.err();
  columns = 40;
  screen.paint([], ["y"]);
  expect(io.err().slice(painted.length)).toContain("\u001b[3A");
  screen.close();
});
