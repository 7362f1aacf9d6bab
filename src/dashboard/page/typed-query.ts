import { useEffect, useState } from "preact/hooks";
import { replaceWith } from "./router.ts";
import { useSettled } from "./settled.ts";

type Fields<Name extends string> = Readonly<Record<Name, string>>;

/**
 * Fields of the URL's query that the viewer types. The URL follows once they have stopped; a link to other values
 * replaces what is typed.
 * @param linkOf the link to the same screen with these fields
 */
export function useTypedQuery<Name extends string>(
  query: URLSearchParams,
  names: readonly Name[],
  linkOf: (fields: Fields<Name>) => string,
) {
  const read = (of: (name: Name) => string) =>
    Object.fromEntries(names.map((name) => [name, of(name)])) as Fields<Name>;
  const given = read((name) => query.get(name) ?? "");
  const url = query.toString();
  const [typed, setTyped] = useState({ fields: given, url });
  const fields = typed.url === url ? typed.fields : given;
  const settled = useSettled(typed);
  useEffect(() => {
    const wanted = read((name) => settled.fields[name].trim());
    if (settled.url !== url || names.every((name) => wanted[name] === given[name])) return;
    const link = linkOf(wanted);
    setTyped((latest) => ({ ...latest, url: new URLSearchParams(link.split("?")[1]).toString() }));
    replaceWith(link);
  }, [settled]);
  return {
    fields,
    set: (name: Name, text: string) => setTyped({ fields: { ...fields, [name]: text }, url }),
  };
}
