/**
 * Whole, well-formed XML as objects, with the attributes that are asked for as `@name`: texts stay texts (2401.00010
 * keeps its zero), repeated elements named in `arrays` are always arrays. An element with an attribute holds its text
 * as `#text`.
 */
export async function parseXml(
  xml: string,
  arrays: readonly string[],
  attributes: readonly string[] | "all",
): Promise<{ readonly value: unknown } | { readonly reason: string }> {
  const { XMLParser, XMLValidator } = await import("fast-xml-parser");
  // One entity of 100 kB named 100,000 times is 10 GB; no service declares any.
  if (/<!ENTITY/i.test(xml)) return { reason: "it declares entities of its own" };
  try {
    // The parser takes half a document for a whole one.
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
