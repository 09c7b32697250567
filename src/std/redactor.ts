/** Shorter values would blot out innocent text. */
const SECRET_LENGTH_MIN = 4;

/** Replaces every secret, also as it looks inside JSON or percent-encoded. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = secrets
    .filter((secret) => secret.length >= SECRET_LENGTH_MIN)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  const unique = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => unique.reduce((clean, form) => clean.replaceAll(form, "[redacted]"), text);
}
