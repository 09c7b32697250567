/** Commands that have a say in a mirror's documents, or get to know what became of them. Plain data. */

/** How a command is run. */
export type Hook = {
  /** The program, absolute or a name that is looked for in `PATH`, and its arguments. */
  readonly command: readonly string[];
  readonly timeoutMs: number;
  /** How many of it may run at the same time. */
  readonly concurrency: number;
};

/** Asked before a document is sent. */
export type BeforeHook = Hook & {
  readonly onFailure: "hold" | "send";
  /** What becomes of the local file of a document that it vetoes; `to` is an absolute path. */
  readonly afterVeto: { readonly kind: "keep" } | { readonly kind: "move"; readonly to: string };
};

/** The hooks of one mirror; absent ones are not asked. */
export type Hooks = { readonly before?: BeforeHook; readonly after?: Hook };
