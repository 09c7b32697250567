/** Text of XML. Paragraphs and cells end words; other tags may stand in the middle of one. */
export function withoutTags(xml: string): string {
  return (
    xml
      .replace(/<\/(?:w:p|a:p|text:p|text:h|si|row)>|<(?:w:tab|w:br|text:tab|text:s)[ /]/g, "\n$&")
      // Without `<` inside, so that the time it takes grows with the text and not with its square.
      .replace(/<[^<>]*>/g, "")
      .replace(/&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-f]{1,6}));/gi, entity)
  );
}

function entity(whole: string, name?: string, decimal?: string, hex?: string): string {
  if (name !== undefined) return ENTITIES.get(name.toLowerCase()) ?? whole;
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "";
}

const ENTITIES = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);
