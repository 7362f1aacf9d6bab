import { mergeConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import config, { projects } from "../../../vitest.config.ts";

const listed = (name: string, separator: string) =>
  (process.env[name] ?? "").split(separator).filter(Boolean);

/** Runs the files in the given order, because the one most likely to notice comes first. */
class AsNamed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const named = listed("MUTANT_TESTS", ",");
    const place = ({ moduleId }: TestSpecification) => {
      const found = named.findIndex((part) => moduleId.endsWith(`/${part}`));
      return found < 0 ? named.length : found;
    };
    return files.toSorted((one, other) => place(one) - place(other));
  }
}

/** Test files that do not run: Vitest's `--exclude` does not reach projects. A pattern may have commas. */
const exclude = listed("MUTANT_TESTS_LEFT", "\n");

export default {
  ...config,
  test: {
    ...config.test,
    projects: projects.map((project) => mergeConfig(project, { test: { exclude } })),
    sequence: { sequencer: AsNamed },
    cache: false,
  },
};
