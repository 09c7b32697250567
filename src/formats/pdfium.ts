/** The library that counts and reads PDFs: pdfium, compiled to WebAssembly. Nothing native is loaded, nothing is drawn. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { WrappedPdfiumModule } from "@embedpdf/pdfium";

/** The bytes of a PDF. pdfium asks for a few hundred of them at a time, and waits. */
export type PdfBytes = {
  /** In bytes. */
  readonly size: number;
  /** Up to `length` bytes from `position`; fewer at the end of the file alone. */
  readonly read: (position: number, length: number) => Uint8Array;
};

/** An opened PDF: pdfium, and its handle of the document. */
export type OpenPdf = { readonly pdfium: WrappedPdfiumModule; readonly document: number };

/** A file that makes pdfium take more is hostile: a page and its text take a few megabytes. */
const MEMORY_BYTES_MAX = 512 << 20;
/** pdfium keeps sizes and places in 32 bits. */
const SIZE_MAX = 2 ** 32 - 1;
/** What is read at once: each read of a file is a system call. */
const PIECE_BYTES = 64 << 10;
/** Three numbers of 32 bits: the size, the function that gives bytes, and what is passed to it. */
const ACCESS_BYTES = 12;

/** As far as it is needed here: these types come with those of browsers alone. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => object;
};

type Memory = { readonly memory: { readonly buffer: ArrayBuffer } };

class Pdfium {
  readonly #module: WrappedPdfiumModule;
  readonly #access: number;
  #bytes: PdfBytes = { size: 0, read: () => new Uint8Array() };
  #piece: { at: number; bytes: Uint8Array } = { at: 0, bytes: new Uint8Array() };
  /** What `bytes.read` threw: nothing may be thrown through pdfium. */
  failure: { readonly error: unknown } | undefined;

  private constructor(module: WrappedPdfiumModule) {
    this.#module = module;
    module.PDFiumExt_Init();
    const { pdfium } = module;
    this.#access = pdfium.wasmExports.malloc(ACCESS_BYTES);
    const give = (_: number, position: number, target: number, length: number): number =>
      this.#give(position >>> 0, target >>> 0, length >>> 0);
    pdfium.setValue(this.#access + 4, pdfium.addFunction(give, "iiiii"), "i32");
    pdfium.setValue(this.#access + 8, 0, "i32");
  }

  static async start(): Promise<Pdfium> {
    const library = await import("@embedpdf/pdfium");
    const path = createRequire(import.meta.url).resolve("@embedpdf/pdfium/pdfium.wasm");
    const options = { instantiateWasm: instantiated(readFileSync(path)), printErr: () => {} };
    return new Pdfium(await library.init(options));
  }

  /** Undefined when it cannot be opened: protected, or damaged beyond repair. */
  use<T>(bytes: PdfBytes, what: (pdf: OpenPdf) => T): T | undefined {
    const { pdfium } = this.#module;
    pdfium.setValue(this.#access, bytes.size | 0, "i32");
    this.#bytes = bytes;
    this.#piece = { at: 0, bytes: new Uint8Array() };
    this.failure = undefined;
    const document = this.#module.FPDF_LoadCustomDocument(this.#access, "");
    const found = document === 0 ? undefined : what({ pdfium: this.#module, document });
    if (document !== 0) this.#module.FPDF_CloseDocument(document);
    return found;
  }

  #give(position: number, target: number, length: number): number {
    try {
      // Another one each time that it grows.
      const { memory } = this.#module.pdfium.wasmExports as unknown as Memory;
      const heap = new Uint8Array(memory.buffer);
      for (let given = 0; given < length; ) {
        const { at, bytes } = this.#pieceAt(position + given, length - given);
        const from = position + given - at;
        const part = bytes.subarray(from, from + length - given);
        if (part.length === 0) return 0;
        heap.set(part, target + given);
        given += part.length;
      }
      return 1;
    } catch (error) {
      this.failure = { error };
      return 0;
    }
  }

  #pieceAt(position: number, length: number): { at: number; bytes: Uint8Array } {
    const { at, bytes } = this.#piece;
    if (position < at || position >= at + bytes.length) {
      const wanted = Math.max(PIECE_BYTES, length);
      // It looks backwards for a beginning, too.
      const from = Math.max(0, Math.min(position, this.#bytes.size - wanted));
      this.#piece = { at: from, bytes: this.#bytes.read(from, wanted) };
    }
    return this.#piece;
  }
}

let started: Promise<Pdfium> | undefined;

/**
 * Opens a PDF and calls `what`, which must not keep it. Resolves with undefined where it cannot be opened, or breaks
 * pdfium, which then starts again for the next one. Rejects with what `bytes.read` throws.
 */
export async function withPdf<T>(
  bytes: PdfBytes,
  what: (pdf: OpenPdf) => T,
): Promise<T | undefined> {
  if (bytes.size > SIZE_MAX) return undefined;
  const pdfium = await (started ??= Pdfium.start());
  let found: T | undefined;
  try {
    found = pdfium.use(bytes, what);
  } catch {
    // Out of memory, a trap, too deep a recursion: it ended in the middle of something.
    started = undefined;
  }
  if (pdfium.failure) throw pdfium.failure.error;
  return found;
}

/** As the library does it itself, but that memory ends somewhere. */
function instantiated(code: Buffer) {
  return (
    imports: { env: { emscripten_resize_heap: (bytes: number) => number } },
    receive: (instance: object) => object,
  ): object => {
    const { env } = imports;
    const grow = env.emscripten_resize_heap;
    env.emscripten_resize_heap = (bytes) => (bytes >>> 0 > MEMORY_BYTES_MAX ? 0 : grow(bytes));
    return receive(new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(code)), imports));
  };
}
