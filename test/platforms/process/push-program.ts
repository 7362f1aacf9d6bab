// Sends a request to each URL, and prints what came of it, as JSON.

import process from "node:process";
import { DeliveryError, sendTo } from "../../../src/features/push/index.ts";

const outcomes: unknown[] = [];
for (const url of process.argv.slice(2)) {
  try {
    const { status, body, truncated } = await sendTo(
      { url, body: "{}" },
      { allowPrivate: ["127.0.0.1", "localhost"] },
    );
    outcomes.push({ status, size: body.length, truncated });
  } catch (error) {
    outcomes.push(error instanceof DeliveryError ? error.code : String(error));
  }
}
console.log(JSON.stringify(outcomes));
process.exit();
