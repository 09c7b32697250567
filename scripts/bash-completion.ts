/** Makes bash's completion from the commands themselves: `node scripts/bash-completion.ts`. */
import { fileURLToPath } from "node:url";
import { type CommandLeaf, commandTree } from "./command-tree.ts";

/** The script that bash loads from bash-completion/completions/scanferry. */
export function bashCompletion(): string {
  const program = commandTree();
  return `# bash completion of scanferry, made from its commands
_scanferry() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path='' word skip=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [ -n "$skip" ]; then skip=''; continue; fi
    case $word in
      --config) skip=1 ;;
      -*) ;;
      *) case "$path $word" in
${commandsBelow(program)
  .map(({ words }) => `           ' ${words.join(" ")}') path="$path $word" ;;`)
  .join("\n")}
         esac ;;
    esac
  done
  case "$path $prev" in
${[program, ...commandsBelow(program)].flatMap(choices).join("\n")}
  esac
  if [[ $prev == --config ]]; then COMPREPLY=($(compgen -f -- "$cur")); return; fi
  case $path in
${[program, ...commandsBelow(program)].map(offer).join("\n")}
  esac
}
complete -o default -F _scanferry scanferry
`;
}

function commandsBelow(leaf: CommandLeaf): CommandLeaf[] {
  return leaf.commands.flatMap((below) => [below, ...commandsBelow(below)]);
}

/** Values of an option that are known. */
function choices({ words, flags }: CommandLeaf): string[] {
  return flags
    .filter((flag) => flag.choices.length > 0)
    .map((flag) => {
      const path = words.length > 0 ? ` ${words.join(" ")}` : "";
      const patterns = flag.names.map((name) => `'${path} ${name}'`).join("|");
      return `    ${patterns}) COMPREPLY=($(compgen -W '${flag.choices.join(" ")}' -- "$cur")); return ;;`;
    });
}

function offer({ words, flags, commands }: CommandLeaf): string {
  const path = words.length > 0 ? ` ${words.join(" ")}` : "";
  const longs = flags.flatMap(({ names }) => names.filter((name) => name.startsWith("--")));
  const offered = [...commands.flatMap(({ words: below }) => below.at(-1) ?? []), ...longs];
  return `    '${path}') COMPREPLY=($(compgen -W '${offered.join(" ")}' -- "$cur")) ;;`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(bashCompletion());
