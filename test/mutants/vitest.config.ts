import { mergeConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import config from "../../vitest.config.ts";

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

export default mergeConfig(config, { test: { sequence: { sequencer: AsNamed }, cache: false } });
