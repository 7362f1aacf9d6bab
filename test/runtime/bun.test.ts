import { acceptance } from "./acceptance.ts";
import { deployedBy } from "./process/deployed.ts";

acceptance("Bun", deployedBy("bun", "bun main.ts"));
