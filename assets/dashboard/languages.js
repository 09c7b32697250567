/** Which language the page speaks: the one that was chosen here, or the first of the browser's that there is. */

export const LANGUAGES = ["en", "de"];
const KEPT_AS = "language";

/** `kept`: what was chosen earlier, if anything; `wanted`: the browser's languages, the best first. */
export function languageOf(kept, wanted) {
  return [kept, ...wanted.map((tag) => tag.split("-")[0]), "en"].find((one) => LANGUAGES.includes(one));
}

/**
 * The language with the reader's region, which decides how numbers and times are written: a user in Vienna who reads
 * English has a clock of 24 hours.
 */
export function localeOf(language, wanted) {
  const own = wanted.find((tag) => tag.split("-")[0] === language && tag.includes("-"));
  const { region } = new Intl.Locale(wanted[0] ?? language).maximize();
  return own ?? (region ? `${language}-${region}` : language);
}

/** Remembers a choice and shows the page in it. */
export function choose(language) {
  localStorage.setItem(KEPT_AS, language);
  location.reload();
}

function kept() {
  try {
    return localStorage.getItem(KEPT_AS);
  } catch {
    // A browser may keep nothing.
    return null;
  }
}

const wanted = navigator.languages ?? [];
export const language = languageOf(kept(), wanted);
export const locale = localeOf(language, wanted);
