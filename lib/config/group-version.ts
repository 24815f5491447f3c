/** Group and version of an apiVersion; the core group is "". */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

export function groupVersion(apiVersion: string): GroupVersion {
  const slash = apiVersion.lastIndexOf("/");
  return slash < 0
    ? { group: "", version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}
