export { encrypted, type Encryption, type MaybeEncryption } from "./encryption.ts";
export { checkedEncryption, requiredEncryption } from "./checked-encryption.ts";
