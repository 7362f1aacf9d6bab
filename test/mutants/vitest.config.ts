import { mergeConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import config, { projects } from "../../vitest.config.ts";

/** Runs the files in the given order, because the one most likely to notice comes first. */
class AsNamed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const named = (process.env["MUTANT_TESTS"] ?? "").split(" ");
    const place = ({ moduleId }: TestSpecification) => {
      const found = named.findIndex((part) => moduleId.includes(`/test/${part}`));
      return found < 0 ? named.length : found;
    };
    return files.toSorted((one, other) => place(one) - place(other));
  }
}

/** Test files that do not run: Vitest's `--exclude` does not reach projects. */
const exclude = (process.env["MUTANT_TESTS_LEFT"] ?? "").split(" ").filter(Boolean);

export default {
  ...config,
  test: {
    ...config.test,
    projects: projects.map((project) => mergeConfig(project, { test: { exclude } })),
    sequence: { sequencer: AsNamed },
    cache: false,
  },
};
