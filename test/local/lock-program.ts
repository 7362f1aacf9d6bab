// A process that locks the folder of its argument at each line of its input, and says how that went. SIGTERM gives the
// lock up.

import { createInterface } from "node:readline";
import { lockFolder } from "../../src/local/stack/folder-lock.ts";

let unlock = () => {};
process.on("SIGTERM", () => {
  unlock();
  process.exit();
});
console.log("started");
createInterface({ input: process.stdin }).on("line", () => {
  lockFolder(process.argv[2] as string).then(
    (given) => {
      unlock = given;
      console.log("locked");
    },
    ({ message }: Error) => console.log(message),
  );
});
