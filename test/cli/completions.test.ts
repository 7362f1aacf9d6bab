import { expect, test } from "vitest";
import { runBash } from "./process.ts";
import { runHere } from "./run-here.ts";

/** What bash offers after each of these lines. The last word of a line is being written. */
async function offered(...lines: readonly string[]): Promise<string[][]> {
  const completed = lines.map((line) => {
    const words = line.split(" ");
    return `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _sluice
      echo "\${COMPREPLY[@]}"`;
  });
  const { out, err } = await runBash(
    ["source <(sluice completions bash)", "complete -p sluice", ...completed].join("\n"),
  );
  const [installed, ...replies] = out.replace(/\n$/, "").split("\n");
  expect([installed, err]).toEqual(["complete -o default -F _sluice sluice", ""]);
  return replies.map((reply) => reply.split(" ").filter((word) => word !== ""));
}

test("bash completes commands, options, choices and arguments", async () => {
  const [commands, ...others] = await offered(
    "sluice ",
    "sluice re",
    "sluice redrive emails --r",
    "sluice ls emails --state p",
    "sluice completions ",
    "sluice help pu",
    "sluice enqueue emails --file ",
    "sluice nope ",
  );
  expect(commands).toEqual(expect.arrayContaining(["doctor", "help"]));
  expect(others).toEqual([
    ["redrive", "resume", "replay"],
    ["--rate", "--rejected", "--reason"],
    ["pending"],
    ["bash", "zsh", "fish", "--help"],
    ["purge", "publish", "pull"],
    // bash then completes names of files.
    [],
    [],
  ]);
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
    "-n '__fish_seen_subcommand_from ls' -l state -x -a 'pending delayed blocked working completed rejected dead'",
  );
  expect(out).toContain("-n '__fish_seen_subcommand_from completions' -f -a zsh\n");
  for (const line of out.trim().split("\n"))
    expect(line).toMatch(/^complete -c sluice -n (?:[^']|'(?:[^'\\]|\\.)*')+$/);
});
