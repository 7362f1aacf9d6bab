import { expect, test } from "vitest";
import { runBash } from "./process.ts";
import { runHere } from "./run-here.ts";

/** What bash offers after these words. The last one is being written. */
async function offered(...words: string[]): Promise<string[]> {
  const { out, err } = await runBash(`
    source <(sluice completions bash)
    complete -p sluice
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")})
    COMP_CWORD=${words.length - 1}
    _sluice
    printf '%s\\n' "\${COMPREPLY[@]}"`);
  const [installed, ...replies] = out.trim().split("\n");
  expect([installed, err]).toEqual(["complete -o default -F _sluice sluice", ""]);
  return replies;
}

test("bash completes commands, options, choices and arguments", async () => {
  const [commands, re, options, states, shells, help, files, unknown] = await Promise.all([
    offered("sluice", ""),
    offered("sluice", "re"),
    offered("sluice", "redrive", "emails", "--r"),
    offered("sluice", "ls", "emails", "--state", "p"),
    offered("sluice", "completions", ""),
    offered("sluice", "help", "pu"),
    offered("sluice", "enqueue", "emails", "--file", ""),
    offered("sluice", "nope", ""),
  ]);
  expect(commands).toContain("doctor");
  expect(commands).toContain("help");
  expect(re).toEqual(["redrive", "resume"]);
  expect(options).toEqual(["--rate", "--rejected", "--reason"]);
  expect(states).toEqual(["pending"]);
  expect(shells).toEqual(["bash", "zsh", "fish", "--help"]);
  expect(help).toEqual(["purge", "pull"]);
  // bash then completes names of files.
  expect(files).toEqual([]);
  expect(unknown).toEqual([]);
});

test("the completions of zsh are those of bash, with its loader", async () => {
  const bash = await runHere(["completions", "bash"], {});
  const zsh = await runHere(["completions", "zsh"], {});
  expect(zsh.out).toBe(`autoload -U +X bashcompinit && bashcompinit\n${bash.out}`);
});

test("the completions of fish have each command, each option, and the choices", async () => {
  const { code, out } = await runHere(["completions", "fish"], {});
  expect(code).toBe(0);
  expect(out).toContain(
    "complete -c sluice -n __fish_use_subcommand -f -a redrive -d 'make dead letters pending again'\n",
  );
  expect(out).toContain(
    "-n '__fish_seen_subcommand_from ls' -l state -x -a 'pending delayed working completed rejected'",
  );
  expect(out).toContain("-n '__fish_seen_subcommand_from completions' -f -a zsh\n");
  for (const line of out.trim().split("\n"))
    expect(line).toMatch(/^complete -c sluice -n (?:[^']|'(?:[^'\\]|\\.)*')+$/);
});
