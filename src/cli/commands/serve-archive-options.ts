import { type Command, InvalidArgumentError, Option } from "commander";
import type { EmbeddedArchiveOptions } from "../../embedded-archive/embedded-archive.ts";
import { faultRuleOfText } from "../../embedded-archive/fault-rules.ts";
import type { FaultRule } from "../../embedded-archive/faults.ts";
import {
  type FileLimits,
  KINDS,
  SIGNATURE_SCHEMES,
  type SignatureScheme,
} from "../../embedded-archive/archive-options.ts";
import { Fault } from "../../std/fault.ts";
import { listenAddress, size } from "../option-values.ts";

/** Sizes as `--max-file-size` gives them, one after another. */
type Sizes = { readonly all?: number; readonly byKind: FileLimits };

/** What these options bring. */
export type ServeArchiveOptions = {
  readonly maxFileSize?: Sizes;
  readonly admin?: { host: string; port: number };
  readonly notifyUrl?: string;
  readonly fault?: readonly FaultRule[];
  readonly scheme?: SignatureScheme;
};

/** Adds the options of `serve-archive` that concern limits, administration, expiry and training. */
export function addServeArchiveOptions(command: Command): Command {
  return command
    .option(
      "--max-file-size <[kind=]size>",
      "refuse larger files, e.g. 10MB; pdf=50MB for one kind (repeatable)",
      maxFileSize,
    )
    .addOption(
      new Option(
        "--admin <host:port>",
        "address for administration, on this machine only; default: none",
      ).argParser(listenAddress),
    )
    .option("--notify-url <url>", "POST JSON there when an expiry date passes", httpUrl)
    .addOption(
      new Option("--scheme <scheme>", "accept only this signature scheme; default: all").choices(
        SIGNATURE_SCHEMES,
      ),
    )
    .option("--fault <rule>", "inject a fault, e.g. upload:dropAfter,nth=2 (repeatable)", fault);
}

/** The same as options of the archive. */
export function settingsOfMore(options: ServeArchiveOptions): Partial<EmbeddedArchiveOptions> {
  return {
    maxFileSizeBytes: options.maxFileSize?.all,
    maxFileSizeByKind: options.maxFileSize?.byKind,
    admin: options.admin,
    notifyUrl: options.notifyUrl,
    faults: options.fault,
    scheme: options.scheme,
  };
}

function maxFileSize(text: string, before: Sizes = { byKind: {} }): Sizes {
  const at = text.indexOf("=");
  if (at < 0) return { ...before, all: size(text) };
  const kind = KINDS.find((known) => known === text.slice(0, at));
  if (kind === undefined) {
    throw new InvalidArgumentError(`Write a size such as 10MB, or KIND=SIZE: ${KINDS.join(", ")}.`);
  }
  return { ...before, byKind: { ...before.byKind, [kind]: size(text.slice(at + 1)) } };
}

function fault(text: string, before: readonly FaultRule[] = []): FaultRule[] {
  try {
    return [...before, faultRuleOfText(text)];
  } catch (error) {
    if (error instanceof Fault) throw new InvalidArgumentError(`${error.message}; ${error.hint}`);
    throw error;
  }
}

function httpUrl(text: string): string {
  const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isHttp) throw new InvalidArgumentError("Write an http or https URL.");
  return text;
}
