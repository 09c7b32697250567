import type { Flag, CommandNode, Takes } from "./grammar.ts";

/** A script for fish: `~/.config/fish/completions/scanferry.fish`. */
export function fishCompletion(places: readonly CommandNode[]): string {
  const steps = places.flatMap(({ path, commands, flags }) => [
    ...commands.map(
      ({ name }) =>
        `            case '${path}:${name}'\n                set at '${`${path} ${name}`.trim()}'`,
    ),
    ...flags
      .filter(({ takes }) => takes.kind !== "nothing")
      .map((flag) => `            case ${pattern(path, flag)}\n                set skip 1`),
  ]);
  return `# Completion of scanferry for fish. Made by: scanferry completion fish
function __scanferry_at
    set -l at ''
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip -eq 1
            set skip 0
            continue
        end
        switch "$at:$word"
${steps.join("\n")}
        end
    end
    test "$at" = "$argv[1]"
end
complete -c scanferry -f
${places.flatMap(placeLines).join("\n")}
`;
}

function placeLines({ path, commands, flags, takes }: CommandNode): string[] {
  const start = `complete -c scanferry -n "__scanferry_at '${path}'"`;
  return [
    ...commands.map(({ name, about }) => `${start} -a ${name} -d ${quoted(about)}`),
    ...flags.map(
      (flag) => `${start} ${namesOf(flag)}${valueOf(flag.takes)} -d ${quoted(flag.about)}`,
    ),
    ...(takes.kind === "words" ? [`${start} -a ${quoted(takes.words.join(" "))}`] : []),
    ...(takes.kind === "file" ? [`${start} -F`] : []),
  ];
}

function namesOf({ names }: Flag): string {
  return names
    .map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
    .join(" ");
}

function valueOf(takes: Takes): string {
  if (takes.kind === "words") return ` -x -a ${quoted(takes.words.join(" "))}`;
  if (takes.kind === "directory") return " -x -a '(__fish_complete_directories)'";
  if (takes.kind === "file") return " -r -F";
  return takes.kind === "anything" ? " -x" : "";
}

function pattern(path: string, { names }: Flag): string {
  return names.map((name) => `'${path}:${name}'`).join(" ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
