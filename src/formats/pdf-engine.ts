/** pdf.js, without the native graphics library that it loads where it finds one: nothing is drawn here. */
import { registerHooks } from "node:module";

const GRAPHICS = "@napi-rs/canvas";
const NONE = "scanferry:no-graphics";

/** What the engine takes for being able to draw, and reading text never calls. */
function Stub(): void {}
const stubs = { DOMMatrix: Stub, Path2D: Stub };

/** Loaded when first needed: it is large, and many runs meet no PDF. */
export async function pdfEngine(): Promise<typeof import("pdfjs-dist/legacy/build/pdf.mjs")> {
  for (const [name, stub] of Object.entries(stubs))
    if (!(name in globalThis)) Object.assign(globalThis, { [name]: stub });
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === GRAPHICS ? { url: NONE, shortCircuit: true } : next(specifier, context),
    load: (url, context, next) =>
      url === NONE
        ? { format: "commonjs", source: "module.exports = {};", shortCircuit: true }
        : next(url, context),
  });
  try {
    return await import("pdfjs-dist/legacy/build/pdf.mjs");
  } finally {
    hooks.deregister();
  }
}
