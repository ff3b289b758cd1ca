/**
 * Parses complete, well-formed XML to objects. Texts stay strings, so 2401.00010 keeps its last zero. The elements in
 * `arrays` are always arrays. The given attributes become properties `@name`; the text of an element with attributes is
 * its property `#text`.
 * @returns the value; or the reason, as the end of a sentence, if the XML can't be parsed.
 */
export async function parseXml(
  xml: string,
  arrays: readonly string[],
  attributes: readonly string[] | "all",
): Promise<{ readonly value: unknown } | { readonly reason: string }> {
  const { XMLParser, XMLValidator } = await import("fast-xml-parser");
  // Entities could expand to gigabytes. No service uses its own.
  if (/<!ENTITY/i.test(xml)) return { reason: "it declares entities of its own" };
  try {
    // Validated first, because the parser would also accept half of a document.
    if (XMLValidator.validate(xml) !== true) return { reason: "it is cut off or not well-formed" };
    const parser = new XMLParser({
      ignoreAttributes: attributes === "all" ? false : (name: string) => !attributes.includes(name),
      attributeNamePrefix: "@",
      parseTagValue: false,
      parseAttributeValue: false,
      // Numeric character references are decoded only with this.
      htmlEntities: true,
      isArray: (name: string) => arrays.includes(name),
    });
    return { value: parser.parse(xml) as unknown };
  } catch {
    return { reason: "it is nested too deeply or has impossible names" };
  }
}
