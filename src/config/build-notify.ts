import { resolve } from "node:path";
import { invariant } from "../std/invariant.ts";
import type { Networks } from "./find-networks.ts";
import type { ChannelConfig, NotifyConfig, WebhookConfig } from "./notify-config.ts";
import type { NotifySecrets } from "./notify-secrets.ts";
import type { FileShape } from "./file-schema.ts";

/** How an address that is called is reached. */
type NetworkTo = Networks["to"];

function wayTo(url: string, networkTo: NetworkTo): Pick<WebhookConfig, "network"> {
  const network = networkTo(url);
  return network ? { network } : {};
}

/** From the keys of `notify` to its configuration; undefined when there is nobody to tell. */
export function notifyOf(
  notify: FileShape["notify"],
  secrets: NotifySecrets,
  folder: string,
  networkTo: NetworkTo = () => undefined,
): NotifyConfig | undefined {
  const channels = channelsOf(notify, secrets, folder, networkTo);
  const { method, schedule } = notify.ping;
  const { pingUrl: url } = secrets;
  if (channels.length === 0 && url === undefined) return undefined;
  return {
    channels,
    timeoutMs: notify.timeout,
    repeatMs: notify.repeat,
    heldAfterMs: notify.heldAfter,
    diskBytesMin: notify.diskBelow,
    quiet: notify.quiet.hours,
    digest: notify.digest,
    ping: url === undefined ? undefined : { url, method, schedule, ...wayTo(url, networkTo) },
  };
}

function channelsOf(
  { mail, webhook, command }: FileShape["notify"],
  secrets: NotifySecrets,
  folder: string,
  networkTo: NetworkTo,
): ChannelConfig[] {
  return [
    ...mail.map(({ name = "mail", events, server, tls, user, from, to }, at): ChannelConfig => {
      const password = secrets.mail[at];
      invariant(user === undefined || password !== undefined, "a checked user has a password");
      const login = user === undefined || password === undefined ? undefined : { user, password };
      // Mail never goes by a proxy; whom it trusts is the same.
      const { ca } = networkTo("https://localhost") ?? {};
      const trusted = ca === undefined ? {} : { ca };
      return { by: "mail", name, events, ...server, tls, login, from, to, ...trusted };
    }),
    ...webhook.map(({ name = "webhook", events, format, to, headers, body }, at): ChannelConfig => {
      const { url, secret, token } = secrets.webhook[at] ?? {};
      invariant(url !== undefined, "a checked webhook has an address");
      const own = Object.entries(headers ?? {}).map(([key, value]) => [key.toLowerCase(), value]);
      const further = own.length === 0 ? {} : { headers: Object.fromEntries(own) };
      const said = { format, url, secret, token, to, body, ...further };
      return { by: "webhook", name, events, ...said, ...wayTo(url, networkTo) };
    }),
    ...command.map(({ name = "command", events, run }): ChannelConfig => {
      const [program = "", ...rest] = run;
      // A relative path is relative to the file; a bare name is looked for in $PATH.
      const found = program.includes("/") ? resolve(folder, program) : program;
      return { by: "command", name, events, run: [found, ...rest], cwd: folder };
    }),
  ];
}
