import type { Metadata } from "./label-index.ts";
import { withoutTags } from "./xml-text.ts";

/**
 * The elements that say it, by the entry that they are in; an object that is embedded has entries of
 * its own. Of two elements for one label the first counts.
 */
const PLACES: Record<string, Readonly<Record<string, keyof Metadata>>> = {
  "docProps/core.xml": {
    title: "title",
    creator: "author",
    subject: "subject",
    keywords: "keywords",
    description: "description",
  },
  "docProps/app.xml": { Application: "producer" },
  "meta.xml": {
    title: "title",
    "initial-creator": "author",
    // Who changed it last, where nobody is said to have begun it.
    creator: "author",
    subject: "subject",
    keyword: "keywords",
    generator: "producer",
    description: "description",
  },
};

/** What the entry at `path` says; nothing where it is no place for that. Several words are a list. */
export function labelsIn(path: string, xml: () => string): Metadata {
  const labels: Metadata = {};
  for (const [element, label] of Object.entries(PLACES[path] ?? {})) {
    // Whatever the writer calls the namespace; without `<` inside, so that it takes linear time.
    const tag = new RegExp(`<(?:[\\w-]+:)?${element}(?:\\s[^<>]*)?>([^<]*)<`, "g");
    const words = Array.from(xml().matchAll(tag), ([, text = ""]) => withoutTags(text).trim());
    const said = words.filter((word) => word !== "").join(", ");
    if (said !== "") labels[label] ??= said;
  }
  return labels;
}
