import { expect, test } from "vitest";
import { textOf } from "./code.ts";

// Cron sweeps: retries and dead workers wait until its next run.
test.each<[file: string, cron: RegExp]>([
  ...["", "examples/cloudflare/", "examples/first-use/", "examples/quick-start/"].map(
    (folder): [string, RegExp] => [`${folder}wrangler.toml`, /^\[triggers\]\ncrons = \["\* \* \* \* \*"\]$/m],
  ),
  [
    "examples/next/vercel.json",
    /"crons": \[\s*\{ "path": "\/api\/queue\/v1\/sweep", "schedule": "\* \* \* \* \*" \}\s*\]/,
  ],
  ...["serverless", "examples"].flatMap((folder): [string, RegExp][] => [
    [
      `${folder}/vercel/vercel.json`,
      /"crons": \[\s*\{ "path": "\/v1\/sweep", "schedule": "\* \* \* \* \*" \}\s*\]/,
    ],
    [
      `${folder}/netlify/netlify/functions/cron.mts`,
      /^export const config = \{ schedule: "\* \* \* \* \*" \};$/m,
    ],
    [`${folder}/lambda/serverless.yml`, /^ {6}- schedule: rate\(1 minute\)$/m],
    // Its entry sets the cron.
    [`${folder}/deno/deno.json`, /"unstable": \["cron"\]/],
  ]),
])("the cron of %s runs every minute", (file, cron) => {
  expect(textOf(file)).toMatch(cron);
});
