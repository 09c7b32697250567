import { type CommandNode, pattern, stepLines, type Takes } from "./grammar.ts";

/** A script for bash 4.4 or later. Needs nothing but bash itself. */
export function bashCompletion(places: readonly CommandNode[]): string {
  return `# Completion of scanferry for bash. Made by: scanferry completion bash
_scanferry() {
  local at="" word i cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}"
  local flags="" words="" files=""
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$at:$word" in
${places.flatMap(stepLines).join("\n")}
    esac
  done
  case "$at:$prev" in
${places.flatMap(valueLines).join("\n")}
  esac
  if [[ -z $files && -z $words ]]; then
    case "$at" in
${places.map(placeLine).join("\n")}
    esac
    if [[ $cur == -* ]]; then words="$flags" files=""; fi
  fi
  COMPREPLY=()
  if [[ $files == none ]]; then return; fi
  if [[ -n $words ]]; then mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"); fi
  if [[ -n $files ]]; then
    compopt -o filenames
    local found
    mapfile -t found < <(compgen "-$files" -- "$cur")
    COMPREPLY+=("\${found[@]}")
  fi
}
complete -F _scanferry scanferry
`;
}

function valueLines({ path, flags }: CommandNode): string[] {
  return flags
    .filter(({ takes }) => takes.kind !== "nothing")
    .map((flag) => `    ${pattern(path, flag)}) ${wantedOf(flag.takes)} ;;`);
}

function placeLine({ path, commands, flags, takes }: CommandNode): string {
  const flagNames = flags.flatMap(({ names }) => names.filter((name) => name.startsWith("--")));
  const wanted =
    commands.length > 0 ? `words="${commands.map(({ name }) => name).join(" ")}"` : wantedOf(takes);
  return `      "${path}") flags="${flagNames.join(" ")}"; ${wanted} ;;`;
}

/** `files` is a letter of compgen, or `none` where bash knows nothing to offer. */
function wantedOf(takes: Takes): string {
  if (takes.kind === "words") return `words="${takes.words.join(" ")}"`;
  if (takes.kind === "file") return "files=f";
  if (takes.kind === "directory") return "files=d";
  return takes.kind === "anything" ? "files=none" : ":";
}
