import { describe, expect, it } from "vitest";
import { decodeText } from "../../../../src/text/documents/text/decode.js";

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

  // In base 64, since the names of the charsets are for the decoder to find.
  it.each([
    [
      "German",
      "RGllIE38bGxlciBwcvxmdGVuIGb8bmZ6aWcgS/ZycGVyLCBncvbfZXJlIHVuZCBrbGVpbmVyZSwgZvxyIHNw5HRlcmUg3GJ1bmdlbiBpbSBHZWLkdWRlLg==",
      "Die Müller prüften fünfzig Körper, größere und kleinere, für spätere Übungen im Gebäude.",
    ],
    [
      "French",
      "TJLpdHVkZSDpdmFsdellIOAgbJLpdOkgcHLpY+lkZW50IHLpduhsZSBv+SBsYSB04mNoZSBhIOl06SBy6XDpdOllIGFwcuhzIGyS6WNoZWMu",
      "L’étude évaluée à l’été précédent révèle où la tâche a été répétée après l’échec.",
    ],
    [
      "Spanish",
      "RWwgbmnxbyBtaWRp8yBsYSBwcmVzafNuIHNlZ/puIOlsOyB0YW1iaeluIGVzdHVkafMgbeFzIHNl8WFsZXMgZGVzcHXpcyBkZWwgYW7hbGlzaXMu",
      "El niño midió la presión según él; también estudió más señales después del análisis.",
    ],
    [
      "Danish",
      "QuVkZSBi+HJuIG9nIOZsZHJlIHPlIHDlIPhlcm5lOyBmb3Jz+GdldCBn+HIgb2dz5SBzdPhycmUgbeVsaW5nZXIgcOUgduZza2VuIG74ZHZlbmRpZ2Uu",
      "Både børn og ældre så på øerne; forsøget gør også større målinger på væsken nødvendige.",
    ],
    [
      "Icelandic",
      "3mVzc2kgcmFubnPza24gc/1uaXIgYfAg4WhyaWYg/mrhbGZ1bmFyIOEg9m5udXIgdmnwbWnwIHPpdSDzbGrzczsgZW5naW4gcvZrIGVydSBmeXJpciD+du0u",
      "Þessi rannsókn sýnir að áhrif þjálfunar á önnur viðmið séu óljós; engin rök eru fyrir því.",
    ],
    [
      "Polish",
      "Wm1pZXJ6eWxpnG15IHNps+oga2G/ZGVnbyBwYWxjYSBpIHBvcvN3bmFsaZxteSBquSB6IGNp6r9hcmVtOyC/YWRlbiBzaeogbmllIHplnGxpem65sy4=",
      "Zmierzyliśmy siłę każdego palca i porównaliśmy ją z ciężarem; żaden się nie ześliznął.",
    ],
    [
      "Polish of ISO",
      "Wm1pZXJ6eWxptm15IHNps+oga2G/ZGVnbyBwYWxjYSBpIHBvcvN3bmFsabZteSBqsSB6IGNp6r9hcmVtOyC/YWRlbiBzaeogbmllIHpltmxpem6xsy4=",
      "Zmierzyliśmy siłę każdego palca i porównaliśmy ją z ciężarem; żaden się nie ześliznął.",
    ],
    [
      "Czech",
      "Wm3s+GlsaSBqc21lIHPtbHUga2GeZOlobyBwcnN0dSBhIHNyb3ZuYWxpIGppIHMgdO1ob3UgcPhlZG3sdPk7IJ7hZG79IPhpZJrtIHb9c2xlZGVrLg==",
      "Změřili jsme sílu každého prstu a srovnali ji s tíhou předmětů; žádný řidší výsledek.",
    ],
    [
      "Turkish",
      "SGVyIHBhcm1h8P1uIGt1dnZldGluaSD2bOd0/GsgdmUgYfD9cmz98P15bGEga2Fy/v1sYf50/XJk/Ws7IOdv8HUgZPz+/HL8bG38/iBkZfBpbGRpLg==",
      "Her parmağın kuvvetini ölçtük ve ağırlığıyla karşılaştırdık; çoğu düşürülmüş değildi.",
    ],
    [
      "Russian",
      "zPsg6Ofs5fDo6+gg8ejr8yDq4Obk7uPuIO/g6/z24CDoIPHw4OLt6OvoIOW4IPEg4uXx7uwg7/Dl5Ozl8u7iLg==",
      "Мы измерили силу каждого пальца и сравнили её с весом предметов.",
    ],
    [
      "Russian of Unix",
      "7dkgydrNxdLJzMkg08nM1SDLwdbEz8fPINDBzNjDwSDJINPSwdfOyczJIMWjINMg18XTz80g0NLFxM3F1M/XLg==",
      "Мы измерили силу каждого пальца и сравнили её с весом предметов.",
    ],
    [
      "Russian of DOS",
      "jOsgqKespeCoq6gg4air4yCqoKakrqOuIK+gq+zmoCCoIOHgoKKtqKuoIKXxIOEgoqXhrqwgr+ClpKyl4q6iLg==",
      "Мы измерили силу каждого пальца и сравнили её с весом предметов.",
    ],
    [
      "Greek",
      "zOX08d7z4ezlIPTnIOT97eHs5yDq3OjlIOTh9/T96+/1IOrh6SD05yDz9ePq8d/t4ezlIOzlIPTvIOLc8e/yLg==",
      "Μετρήσαμε τη δύναμη κάθε δαχτύλου και τη συγκρίναμε με το βάρος.",
    ],
    [
      "Hebrew",
      "7uPj8OUg4Pog5Ovl5yD57CDr7CDg9uHyIOXk+eXl6fDlIODl+uUg7O759+wg+ewg5Of09untLg==",
      "מדדנו את הכוח של כל אצבע והשווינו אותו למשקל של החפצים.",
    ],
    [
      "Arabic",
      "3tPkxyDe5skg3+EgxdXI2iDm3sfR5MflxyDI5tLkIMfhw9Ttx8Eg3e0gx+HjzsrI0SDm4eMg7dPe2CDH4dHmyObKLg==",
      "قسنا قوة كل إصبع وقارناها بوزن الأشياء في المختبر ولم يسقط الروبوت.",
    ],
    [
      "Thai",
      "4MPSx9G04cOnos2nudTpx+G16MXQudTpx+HF0OC7w9XCuuC31cK6odG6uenTy7nRoaLNp8fRtbbY",
      "เราวัดแรงของนิ้วแต่ละนิ้วและเปรียบเทียบกับน้ำหนักของวัตถุ",
    ],
    [
      "Japanese",
      "imWOd4LMl82C8JGqkuiCtYFBjsCMsY66gsyVqJHMgsyPZIKzgsaU5IpygrWCvYFCg42De4Nig2eCzZeOgsaCs4LIgqmCwYK9gUI=",
      "各指の力を測定し、実験室の物体の重さと比較した。ロボットは落とさなかった。",
    ],
    [
      "Japanese of Unix",
      "s8a72KTOzs+k8sKsxOqkt6GivMK4s7y8pM7KqsLOpM69xaS1pMjI5rPTpLekv6Gjpe2l3KXDpcikz83upMiktaTKpKukw6S/oaM=",
      "各指の力を測定し、実験室の物体の重さと比較した。ロボットは落とさなかった。",
    ],
    [
      "Japanese of mail",
      "GyRCM0Y7WCROTk8kckIsRGokNyEiPEI4Mzw8JE5KKkJOJE49RSQ1JEhIZjNTJDckPyEjJW0lXCVDJUgkT01uJEgkNSRKJCskQyQ/ISMbKEI=",
      "各指の力を測定し、実験室の物体の重さと比較した。ロボットは落とさなかった。",
    ],
    [
      "Korean",
      "v+y4rrTCILCiILzVsKG29MDHIMj7wLsgw/jBpMfPsO0gvcfH6L3HILmww7zAxyC5q7DUv80guvGxs8fPv7S02S4gt866v8C6ILazvu6237iuwfYgvsq+0rTZLg==",
      "우리는 각 손가락의 힘을 측정하고 실험실 물체의 무게와 비교하였다. 로봇은 떨어뜨리지 않았다.",
    ],
    [
      "Chinese",
      "ztLDx7Liwb/By8O/uPbK1ta4tcTBpqOssqK9q8bk0+vKtdHpytLW0M7vzOW1xNbYwb+9+NDQwcuxyL3PoaPU2sv509DK1NHp1tDDu9PQtfTC5KGj",
      "我们测量了每个手指的力，并将其与实验室中物体的重量进行了比较。在所有试验中没有掉落。",
    ],
    [
      "Chinese of Taiwan",
      "p9qtzLT6tnGkRqhDrdOk4qv8qrqkT6FBqMOxTqjku1C56sXnq8ekpKqrxemquq2rtnG2aabmpEak8bj7oUOmYqnSprO41cXnpKSoU6azsby4qKFD",
      "我們測量了每個手指的力，並將其與實驗室中物體的重量進行了比較。在所有試驗中沒有掉落。",
    ],
  ])("is told by its letters where nothing names its charset: %s", (_, base64, text) => {
    const bytes = Buffer.from(base64, "base64");
    expect(decodeText(bytes)).toBe(text);
    // Within a page, and where the page calls it UTF-8.
    const around = (other: Uint8Array) => Buffer.concat([latin("<meta charset=utf-8><p>"), other, latin("</p>")]);
    expect(decodeText(around(bytes))).toBe(`<meta charset=utf-8><p>${text}</p>`);
  });

  it.each<[string, Uint8Array, string]>([
    ["UTF-8 whose page calls it UTF-16", Buffer.from("<meta charset=utf-16>naïve"), "<meta charset=utf-16>naïve"],
    [
      "UTF-8 whose XML calls it UTF-16",
      Buffer.from('<?xml version="1.0" encoding="UTF-16"?><a>naïve</a>'),
      '<?xml version="1.0" encoding="UTF-16"?><a>naïve</a>',
    ],
    ["UTF-16 without a mark", Buffer.from("A naïve test. ".repeat(9), "utf16le"), "A naïve test. ".repeat(9)],
    ["Chinese in UTF-16 without a mark", Buffer.from("研究中文标题,".repeat(9), "utf16le"), "研究中文标题,".repeat(9)],
    ["the same from the other end", Buffer.from("A test. ".repeat(9), "utf16le").swap16(), "A test. ".repeat(9)],
  ])("is read as what it is: %s", (_, bytes, text) => expect(decodeText(bytes)).toBe(text));

  it("of the north is not taken for Turkish", () => {
    const text =
      "Aðferðin var notuð við mælingar á hæð og þyngd, og niðurstöðurnar sýna að það þarf fleiri rannsóknir á þessu sviði.";
    expect(decodeText(latin(text))).toBe(text);
  });

  it("is not given up for one broken character", () => {
    expect(decodeText(Buffer.concat([Buffer.from("naïve "), latin("\xff"), Buffer.from(" Erdős")]))).toBe(
      "naïve \ufffd Erdős",
    );
  });
});
