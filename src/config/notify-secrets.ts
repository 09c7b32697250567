import { WEBHOOK_NEEDS } from "../domain/webhook-format.ts";
import type { ConfigProblems } from "./config-problems.ts";
import { type Sketch } from "./file-schema.ts";
import { reportIfOpen, type SecretContext } from "./secret-file.ts";
import { findSecret, type Need } from "./secrets.ts";

/** The secrets of `notify`, channel by channel, in their order. */
export type NotifySecrets = {
  readonly mail: readonly (string | undefined)[];
  readonly webhook: readonly {
    readonly url: string | undefined;
    readonly secret: string | undefined;
    readonly token: string | undefined;
  }[];
  readonly pingUrl: string | undefined;
};

/** Of a configuration without channels. */
export const NO_NOTIFY_SECRETS: NotifySecrets = { mail: [], webhook: [], pingUrl: undefined };

/** Looks up passwords, signing secrets and addresses; what is missing or wrong is reported. */
export async function findNotifySecrets(
  { notify }: Sketch,
  around: SecretContext,
): Promise<NotifySecrets> {
  const mail: (string | undefined)[] = [];
  for (const [at, channel] of (notify?.mail ?? []).entries()) {
    const { user, password: value, passwordFile: file } = channel ?? {};
    const section = ["notify", "mail", at];
    const origin = { section, name: "password", value, file, variable: "SCANFERRY_MAIL_PASSWORD" };
    mail.push(await findSecret(origin, user === undefined ? "unused" : "required", around));
  }
  const webhook: NotifySecrets["webhook"][number][] = [];
  for (const [at, channel] of (notify?.webhook ?? []).entries()) {
    const { secret: value, secretFile: file } = channel ?? {};
    const section = ["notify", "webhook", at];
    const origin = { section, name: "secret", value, file, variable: "SCANFERRY_WEBHOOK_SECRET" };
    const format = WEBHOOK_NEEDS[channel?.format ?? "json"];
    const known = "url" in format ? format.url : undefined;
    const need = known === undefined ? "required" : "optional";
    const url = await findUrl(section, channel ?? {}, "SCANFERRY_WEBHOOK_URL", need, around);
    const token = {
      section,
      name: "token",
      value: channel?.token,
      file: channel?.tokenFile,
      variable: "SCANFERRY_WEBHOOK_TOKEN",
    };
    if (Object.keys(channel?.headers ?? {}).length > 0)
      reportIfOpen([...section, "headers"], around);
    webhook.push({
      url: url ?? known,
      secret: await findSecret(origin, "optional", around),
      token: await findSecret(token, format.token, around),
    });
  }
  const ping = notify?.ping ?? {};
  const pingUrl = await findUrl(["notify", "ping"], ping, "SCANFERRY_PING_URL", "optional", around);
  return { mail, webhook, pingUrl };
}

async function findUrl(
  section: (string | number)[],
  { url, urlFile }: { url?: string | undefined; urlFile?: string | undefined },
  variable: string,
  need: Need,
  around: SecretContext,
): Promise<string | undefined> {
  const origin = { section, name: "url", value: url, file: urlFile, variable, isOpen: true };
  const found = await findSecret(origin, need, around);
  if (found !== undefined && found !== url) reportUnfit(found, section, around.findings);
  return found;
}

/** What came from a file or the environment has passed no check yet. */
function reportUnfit(url: string, section: (string | number)[], findings: ConfigProblems): void {
  if (/^https?:\/\/[^\s@\\]+$/i.test(url) && URL.canParse(url)) return;
  findings.report([...section, "url"], "is not an http or https URL", "write https://HOST/PATH");
}
