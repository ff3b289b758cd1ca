import { describe, expect, it } from "vitest";
import { escapeHtml, markup, link, trustMarkup } from "../../../src/engine/lib/markup.js";

describe("html", () => {
  it("escapes every value that is no markup, in text and in attributes", () => {
    const title = `</script><img src=x onerror="alert('1')">&`;
    expect(markup`<p title="${title}">${title}</p>`.text).toBe(
      `<p title="&lt;/script&gt;&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;">` +
        `&lt;/script&gt;&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;</p>`,
    );
  });

  it("takes markup as it is, lists one after the other, and nothing for what is not there", () => {
    const rows = [1, 2].map((row) => markup`<li>${row}</li>`);
    expect(markup`<ul>${rows}${undefined}${null}${false}</ul>${trustMarkup("<hr>")}`.text).toBe(
      "<ul><li>1</li><li>2</li></ul><hr>",
    );
  });

  it.each([
    ["a bidirectional override", "evil\u202Egpj.exe", "evilgpj.exe"],
    ["a zero width", "pass\u200Bword\uFEFF", "password"],
    ["control characters", "a\u0000b\u0008c\u009Fd", "abcd"],
    ["hidden tags", "x\u{E0041}y", "xy"],
  ])("takes %s out of text", (_, given, clean) => {
    expect(escapeHtml(given)).toBe(clean);
  });

  it("leaves Arabic, accents, line feeds and the joiners that Persian is spelled with", () => {
    const text = "نمی‌خواهم\nÉtude – 机器人";
    expect(escapeHtml(text)).toBe(text);
  });
});

describe("link", () => {
  it.each([
    "javascript:alert(1)",
    " javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/markup,x",
    "file:///etc/passwd",
    "//host/x",
    "https://",
    "",
    undefined,
    null,
  ])("makes words of %j", (address) => {
    expect(link(address, "words").text).toBe("words");
  });

  it("links http and https", () => {
    expect(link(`https://a.org/?x="1"&y`, "<b>").text).toBe(
      `<a href="https://a.org/?x=&quot;1&quot;&amp;y">&lt;b&gt;</a>`,
    );
  });
});
