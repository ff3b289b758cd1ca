/** Whole, well-formed XML as objects: texts stay texts (2401.00010 keeps its zero), repeated elements named in `arrays` are always arrays. */
export async function parseXml(
  xml: string,
  arrays: readonly string[],
  attributes = false,
): Promise<{ readonly value: unknown } | { readonly reason: string }> {
  const { XMLParser, XMLValidator } = await import("fast-xml-parser");
  // One entity of 100 kB named 100,000 times is 10 GB; no service declares any.
  if (/<!ENTITY/i.test(xml)) return { reason: "it declares entities of its own" };
  try {
    // The parser takes half a document for a whole one.
    if (XMLValidator.validate(xml) !== true) return { reason: "it is cut off or not well-formed" };
    const parser = new XMLParser({
      ignoreAttributes: !attributes,
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
