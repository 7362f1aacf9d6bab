import { invalidArgument } from "../../errors.ts";
import type { Encryption, MaybeEncryption } from "./encryption.ts";

/** @throws {SluiceError} `invalid_argument` */
export function checkedEncryption(value: MaybeEncryption): MaybeEncryption {
  return value === undefined || value === null ? value : requiredEncryption(value, "encryption");
}

/** @throws {SluiceError} `invalid_argument`, also if it is null or undefined */
export function requiredEncryption(value: MaybeEncryption, path: string): Encryption {
  if (typeof value?.encrypt === "function") return value;
  throw invalidArgument(path, "must be made by encryption() of sluice-queue/encryption");
}
