/** Group and version of an apiVersion; the core group is "". */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** Of an apiVersion with two slashes, which none has, the rest is the version: an unknown one of a known group. */
export function groupVersion(apiVersion: string): GroupVersion {
  const slash = apiVersion.indexOf("/");
  return slash < 0
    ? { group: "", version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}
