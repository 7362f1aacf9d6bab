import { deliversSafely } from "../process/pushing.ts";

deliversSafely("deno", ["run", "--allow-all", "--no-check"]);
