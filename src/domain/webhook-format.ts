/** The services that a webhook can speak to, and what each asks for. */

/** Whether a key has to be there. */
type Need = "required" | "optional" | "unused";

/** What a service asks for next to an address. */
export type WebhookNeeds = {
  /** A token that shows who sends. */
  readonly token: Need;
  /** Who or what gets it: a room, a user. */
  readonly to: Need;
  /** Its address, where it has just one. */
  readonly url?: string;
};

/** By the name of the format. */
export const WEBHOOK_NEEDS = {
  json: { token: "optional", to: "unused" },
  ntfy: { token: "optional", to: "unused" },
  gotify: { token: "required", to: "unused" },
  slack: { token: "unused", to: "unused" },
  discord: { token: "unused", to: "unused" },
  teams: { token: "unused", to: "unused" },
  matrix: { token: "required", to: "required" },
  pushover: { token: "required", to: "required", url: "https://api.pushover.net/1/messages.json" },
} as const satisfies Readonly<Record<string, WebhookNeeds>>;

export type WebhookFormat = keyof typeof WEBHOOK_NEEDS;

/** In the order of the reference. */
export const WEBHOOK_FORMATS = Object.keys(WEBHOOK_NEEDS) as WebhookFormat[];
