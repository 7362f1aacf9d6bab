import { deliversSafely } from "../process/pushing.ts";

deliversSafely("bun");
