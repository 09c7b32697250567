/** The end of a command's help: how it is typed. */
export function examples(...lines: readonly string[]): string {
  const heading = lines.length === 1 ? "Example:" : "Examples:";
  return `\n${heading}\n${lines.map((line) => `  ${line}`).join("\n")}`;
}
