/** Where receipts of closed batches are written. */
import { z } from "zod";
import type { ReceiptFormat } from "../receipts/receipt-folder.ts";
import { section, setting } from "./kind.ts";
import { choice } from "./kinds.ts";
import { localPath } from "./place-kinds.ts";

/** Every form that a receipt is written in. */
export const RECEIPT_FORMATS: readonly ReceiptFormat[] = ["json", "html"];

/** The keys of `receipts`. */
export const receiptsSchema = section(
  {
    dir: setting(localPath(), {
      meaning: "The folder, on a local disk and outside every source.",
      example: "./receipts",
      required: true,
    }),
    formats: setting(z.array(choice("json", "html")).min(1).prefault(["json", "html"]), {
      meaning: "The files of each receipt: `json` for machines, `html` to print.",
      example: "[html]",
    }),
  },
  "`receipts: DIR` is short for `receipts: { dir: DIR }`.",
);
