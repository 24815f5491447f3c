/** What a resolver's settings say of other nameservers. */
export interface ResolverSettings {
  /** Addresses. */
  readonly nameservers: readonly string[];
  /** What is added to a name, the first first. */
  readonly search: readonly string[];
}

/** More than these no resolver asks. */
const maxNameservers = 3;

/** Reads a `resolv.conf`. @see https://man7.org/linux/man-pages/man5/resolv.conf.5.html */
export function readResolvConf(text: string): ResolverSettings {
  const nameservers: string[] = [];
  let search: readonly string[] = [];
  for (const line of text.split("\n")) {
    const [word, ...rest] = line
      .replace(/[#;].*/, "")
      .trim()
      .split(/\s+/);
    const [first] = rest;
    if (word === "nameserver" && first !== undefined) nameservers.push(first);
    // Of several the last counts; names may end in a dot.
    if ((word === "search" || word === "domain") && first !== undefined)
      search = rest.map((name) => name.replace(/\.$/, "")).filter((name) => name !== "");
  }
  return { nameservers: nameservers.slice(0, maxNameservers), search };
}
