import type { Command } from "commander";

/** A command with what can be completed after it. */
interface Completable {
  readonly name: string;
  readonly summary: string;
  /** Values of its arguments. */
  readonly choices: readonly string[];
  readonly options: readonly {
    readonly flag: string;
    readonly description: string;
    readonly takesValue: boolean;
    readonly values: readonly string[];
  }[];
}

export const shells = ["bash", "zsh", "fish"] as const;

/** The completion script of a shell, for the commands of the program. */
export function completionScript(shell: (typeof shells)[number], program: Command): string {
  const commands = program.commands.map(completable);
  if (shell === "fish") return fish(commands);
  // zsh runs the completions of bash.
  const prelude = shell === "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
  return prelude + bash(commands);
}

function completable(command: Command): Completable {
  return {
    name: command.name(),
    summary: command.summary(),
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    options: command.options.map(({ long, description, required, argChoices }) => ({
      flag: long ?? "",
      description,
      takesValue: required,
      values: argChoices ?? [],
    })),
  };
}

function bash(commands: readonly Completable[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  const cases = commands.map(
    ({ name, options, choices }) =>
      `    ${name}) words="${[...choices, ...options.map(({ flag }) => flag), "--help"].join(" ")}" ;;`,
  );
  const values = commands.flatMap(({ name, options }) =>
    options
      .filter((option) => option.values.length > 0)
      .map((option) => `    "${name} ${option.flag}") words="${option.values.join(" ")}" ;;`),
  );
  const free = commands
    .flatMap(({ options }) =>
      options.filter(({ takesValue, values: some }) => takesValue && some.length === 0),
    )
    .map(({ flag }) => flag);
  return `_sluice() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names} help" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
    help) words="${names}" ;;
  esac
  # Values without choices are names of files, or free.
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
    ${[...new Set(free)].join("|")}) words="" ;;
  esac
  case "\${COMP_WORDS[1]} \${COMP_WORDS[COMP_CWORD-1]}" in
${values.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _sluice sluice
`;
}

function fish(commands: readonly Completable[]): string {
  const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = commands.flatMap(({ name, summary, options, choices }) => [
    `complete -c sluice -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
    ...choices.map((choice) => `complete -c sluice -n '__fish_seen_subcommand_from ${name}' -f -a ${choice}`),
    ...options.map(({ flag, description, values }) => {
      const choices = values.length > 0 ? ` -x -a ${quoted(values.join(" "))}` : "";
      return `complete -c sluice -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}${choices} -d ${quoted(description)}`;
    }),
  ]);
  return `${lines.join("\n")}\n`;
}
