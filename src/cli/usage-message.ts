/** Commander's messages, in the form of the other errors: the name of what is wrong, then what is allowed. */
const FORMS: readonly (readonly [pattern: RegExp, form: string])[] = [
  [
    /^option '(?:-\w, )?(--[\w-]+)[^']*' argument '.*' is invalid\. Allowed choices are (.*)\.$/s,
    "$1 must be one of $2",
  ],
  [/^option '(?:-\w, )?(--[\w-]+)[^']*' argument '.*' is invalid\. (.*)$/s, "$1 $2"],
  [
    /^command-argument value '.*' is invalid for argument '([^']*)'\. Allowed choices are (.*)\.$/s,
    "<$1> must be one of $2",
  ],
  [/^command-argument value '.*' is invalid for argument '([^']*)'\. (.*)$/s, "<$1> $2"],
  [/^unknown option '(--?[\w-]+)[^']*'/s, "unknown option '$1'"],
  [/^required option '(--[^']*)' not specified$/, "$1 is required"],
  [/^missing required argument '([^']*)'$/, "<$1> is required"],
  [/^option '(--[^']*)' argument missing$/, "$1 needs a value"],
];

/** The message of an error in the command line, without the values of options and arguments: they may be secrets. */
export function usageMessage(message: string): string {
  const text = message.replace(/^error: /, "");
  const found = FORMS.find(([pattern]) => pattern.test(text));
  return found ? text.replace(found[0], found[1]) : text;
}
