import { describe, expect, it } from "vitest";
import { decodeText } from "../../../../src/engine/documents/text/decode.js";

const latin = (text: string) => Buffer.from(text, "latin1");

describe("the text of a document", () => {
  it.each<[string, Uint8Array, string]>([
    ["UTF-8", Buffer.from("naïve Erdős"), ""],
    ["UTF-8 that a server calls Latin-1", Buffer.from("naïve Erdős"), "application/json; charset=ISO-8859-1"],
    ["UTF-8 behind a byte order mark", Buffer.from("\ufeffnaïve Erdős"), "text/xml"],
    ["UTF-16 behind a byte order mark", Buffer.from("\ufeffnaïve Erdős", "utf16le"), "text/html; charset=utf-8"],
    ["UTF-16 from the other end", Buffer.from("\ufeffnaïve Erdős", "utf16le").swap16(), ""],
    ["UTF-16 that its type names", Buffer.from("naïve Erdős", "utf16le"), "text/html; charset=utf-16"],
    ["a charset that nobody knows", Buffer.from("naïve Erdős"), "text/html; charset=klingon"],
  ])("is read from %s", (_, bytes, type) => expect(decodeText(bytes, type)).toBe("naïve Erdős"));

  it.each<[string, Uint8Array, string, string]>([
    ["its type", latin("Müller"), "text/html; charset=iso-8859-1", "Müller"],
    [
      "its XML",
      latin('<?xml version="1.0" encoding="ISO-8859-1"?><a>Müller</a>'),
      "",
      '<?xml version="1.0" encoding="ISO-8859-1"?><a>Müller</a>',
    ],
    ["its page", latin("<meta charset=latin1>Müller"), "text/html", "<meta charset=latin1>Müller"],
    ["nothing", latin("Müller \x93 quoted\x94"), "", "Müller “ quoted”"],
    ["a type that is wrong", latin("Müller"), "application/json; charset=utf-8", "Müller"],
    ["its type, in Cyrillic", Buffer.from([0xcd, 0xe5, 0xf2]), "text/html; charset=windows-1251", "Нет"],
    [
      "its type, in Japanese",
      Buffer.from([0x1b, 0x24, 0x42, 0x46, 0x7c, 0x1b, 0x28, 0x42]),
      "text/plain; charset=iso-2022-jp",
      "日",
    ],
  ])("is read by the charset that %s names", (_, bytes, type, text) => expect(decodeText(bytes, type)).toBe(text));

  it("is not given up for one broken character", () => {
    expect(decodeText(Buffer.concat([Buffer.from("naïve "), latin("\xff"), Buffer.from(" Erdős")]))).toBe(
      "naïve \ufffd Erdős",
    );
  });
});
