import { type CommandNode, pattern, stepLines, type Takes } from "./grammar.ts";

/** A script for zsh: in a directory of `$fpath` as `_scanferry`, or sourced after compinit. */
export function zshCompletion(places: readonly CommandNode[]): string {
  return `#compdef scanferry
# Completion of scanferry for zsh. Made by: scanferry completion zsh
_scanferry() {
  local at="" word i prev="\${words[CURRENT - 1]}"
  local -a flags choices
  local files=""
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    case "$at:$word" in
${places.flatMap(stepLines).join("\n")}
    esac
  done
  case "$at:$prev" in
${places.flatMap(valueLines).join("\n")}
  esac
  case "$at" in
${places.map(placeLine).join("\n")}
  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o option flags
    return
  fi
  if (( $#choices )); then _describe command choices; fi
  case "$files" in
    file) _files ;;
    directory) _files -/ ;;
  esac
}
if [[ $funcstack[1] == _scanferry ]]; then _scanferry "$@"; else compdef _scanferry scanferry; fi
`;
}

function valueLines({ path, flags }: CommandNode): string[] {
  return flags
    .filter(({ takes }) => takes.kind !== "nothing")
    .map((flag) => `    ${pattern(path, flag)}) ${valueOf(flag.takes)}; return ;;`);
}

function placeLine({ path, commands, flags, takes }: CommandNode): string {
  const offered = flags.map(({ names, about }) => item(names.at(-1) ?? "", about));
  const choices = commands.map(({ name, about }) => item(name, about));
  const words = takes.kind === "words" ? takes.words.map((word) => item(word, "")) : choices;
  const files = takes.kind === "file" || takes.kind === "directory" ? takes.kind : "";
  return `    "${path}") flags=(${offered.join(" ")}); choices=(${words.join(" ")}); files="${files}" ;;`;
}

function valueOf(takes: Takes): string {
  if (takes.kind === "words") return `compadd -- ${takes.words.join(" ")}`;
  if (takes.kind === "directory") return "_files -/";
  return takes.kind === "file" ? "_files" : "_message value";
}

/** `name:what it is`, quoted. */
function item(name: string, about: string): string {
  const text = about === "" ? name : `${name}:${about.replaceAll(":", "\\:")}`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
