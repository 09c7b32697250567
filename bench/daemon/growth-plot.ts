const WIDTH = 50;

/** What a file costs at each size, as bars of text. */
export function growthPlot(
  what: string,
  points: readonly { readonly files: number; readonly micros: number }[],
): string {
  const most = Math.max(...points.map(({ micros }) => micros));
  const bars = points.map(({ files, micros }) => {
    const bar = "█".repeat(Math.max(1, Math.round((WIDTH * micros) / most)));
    return `${files.toLocaleString("en").padStart(9)} files  ${bar} ${micros.toFixed(1)} µs`;
  });
  return ["```", `${what}, a file`, ...bars, "```"].join("\n");
}
