import { describe, expect, it } from "vitest";
import { systemCallFilter } from "../../../src/engine/sandbox/system-calls.js";

/** Runs a filter as the kernel does, on a call of this number in this machine language; answers with the last value. */
function judged(filter: Uint8Array, language: number, call: number): number {
  const view = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  let accumulator = 0;
  for (let at = 0; at < filter.byteLength / 8; at += 1) {
    const [code, yes, no, value] = [
      view.getUint16(at * 8, true),
      view.getUint8(at * 8 + 2),
      view.getUint8(at * 8 + 3),
      view.getUint32(at * 8 + 4, true),
    ];
    if (code === 0x20) accumulator = value === 0 ? call : language;
    else if (code === 0x15) at += accumulator === value ? yes : no;
    else if (code === 0x35) at += accumulator >= value ? yes : no;
    else if (code === 0x06) return value;
    else throw new Error(`no such operation: ${code}`);
  }
  throw new Error("the filter has no end");
}

const [allowed, notThere] = [0x7fff0000, 0x00050026];
const languages = {
  x64: { own: 0xc000003e, old: 0x40000003, keyctl: 250, oldKeyctl: 288, read: 0 },
  arm64: { own: 0xc00000b7, old: 0x40000028, keyctl: 219, oldKeyctl: 311, read: 63 },
} as const;

describe.each(Object.entries(languages))("the filter of system calls on %s", (processor, known) => {
  const filter = systemCallFilter(processor) ?? new Uint8Array();
  const { own, old, keyctl, oldKeyctl, read } = known;

  it.each([keyctl, 425, 426, 427])("answers call %d as a kernel without it", (call) =>
    expect(judged(filter, own, call)).toBe(notThere),
  );
  it.each([read, 435, 439, keyctl + 20])("lets call %d through", (call) =>
    expect(judged(filter, own, call)).toBe(allowed),
  );
  it("knows the numbers of 32-bit programs, which are others", () => {
    expect(judged(filter, old, oldKeyctl)).toBe(notThere);
    expect(judged(filter, old, 425)).toBe(notThere);
    expect(judged(filter, old, 3)).toBe(allowed);
  });
  it("lets no call of another machine language through", () => expect(judged(filter, 0x12345678, read)).toBe(notThere));
});

it("lets nobody pass by the x32 dialect, whose numbers stand for the same calls", () => {
  const filter = systemCallFilter("x64") ?? new Uint8Array();
  expect(judged(filter, languages.x64.own, 0x40000000 + 250)).toBe(notThere);
});

it("is none on a processor whose numbers are not known", () => expect(systemCallFilter("s390x")).toBeUndefined());
