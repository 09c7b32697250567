/** The words of the page, in the reader's language. */
import { language } from "./languages.js";

const FILES = { en: () => import("./en.js"), de: () => import("./de.js") };

export const { strings } = await FILES[language]();
