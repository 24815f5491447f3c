/**
 * Whether a proxy's Istio is at least a release: the gates of newer fields. A version that cannot be read counts as the
 * newest, as Istio has it.
 */
export function istioVersionAtLeast(version: string, major: number, minor: number): boolean {
  const match = /^(?:release-)?([1-9]+)\.([0-9]+)/.exec(version);
  if (match === null) return true;
  const ofMajor = Number(match[1]);
  return ofMajor > major || (ofMajor === major && Number(match[2]) >= minor);
}
