/**
 * Reads a setting from the environment.
 * @throws if it is not set
 */
export function required(name: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new Error(`${name} is not set. \`npm start\` sets it; README.md says how to run this elsewhere.`);
}
