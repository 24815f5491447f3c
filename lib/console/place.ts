/** Where in the console somebody is: `#/classes/sidecar-1f0c?q=web`. In the fragment, so that it works wherever the page lies. */
export interface Place {
  /** `["classes", "sidecar-1f0c"]`; empty for the overview. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** @param fragment of the address, with or without `#`; what cannot be decoded stays as it is */
export function readPlace(fragment: string): Place {
  const [path = "", query = ""] = splitOnce(fragment.replace(/^#?\/?/, ""), "?");
  return {
    path: path
      .split("/")
      .filter((part) => part !== "")
      .map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** The address of a place; what is empty in the query is left out. */
export function placeText(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== "") params.set(name, value);
  const text = params.toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function splitOnce(text: string, by: string): readonly [string, string] {
  const at = text.indexOf(by);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
