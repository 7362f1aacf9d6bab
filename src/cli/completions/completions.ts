import { Argument, Command } from "commander";
import type { Io } from "../io.ts";
import { completionScript, shells } from "./scripts.ts";

export function completionsCommand({ stdout }: Io): Command {
  return new Command("completions")
    .summary("print the completions of a shell")
    .description(
      `Prints a script that completes commands and options with Tab.

  bash: sluice completions bash > ~/.local/share/bash-completion/completions/sluice
  zsh:  echo 'source <(sluice completions zsh)' >> ~/.zshrc
  fish: sluice completions fish > ~/.config/fish/completions/sluice.fish`,
    )
    .addArgument(new Argument("<shell>").choices(shells))
    .action((shell: (typeof shells)[number], _options: object, command: Command) => {
      stdout.write(completionScript(shell, command.parent ?? command));
    });
}
