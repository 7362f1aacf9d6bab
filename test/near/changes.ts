import { execFileSync } from "node:child_process";

/**
 * The files that differ from a commit, with what is not committed and what git does not know yet.
 * @param base a revision: counts from where the current branch left it; without one, from the last commit
 * @throws if git does not know the revision
 */
export function changedFiles(root: string, base: string | undefined): string[] {
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const from = base === undefined ? "HEAD" : git("merge-base", base, "HEAD").trim();
  const listed = [
    git("diff", "--name-only", "--no-renames", "--relative", "-z", from),
    git("ls-files", "--others", "--exclude-standard", "-z"),
  ];
  const files = listed.flatMap((names) => names.split("\0")).filter(Boolean);
  return [...new Set(files)].toSorted();
}
