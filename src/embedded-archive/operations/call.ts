import type { Operation } from "../../wire/shapes.ts";
import type { ParameterValues } from "../parameters.ts";
import type { Account, Store } from "../store.ts";

/** One authenticated request of a reading operation, its parameters read. */
export type Call<O extends Operation> = {
  store: Store;
  account: Account;
  asked: ParameterValues<O>;
  /** Lists and searches see documents uploaded before this; Infinity unless a fault says less. */
  before: number;
};

/** What a reply holds in addition to `response`. */
export type ReplyFields = Record<string, unknown>;
