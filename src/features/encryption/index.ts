export { checkedEncryption, requiredEncryption } from "./checked-encryption.ts";
