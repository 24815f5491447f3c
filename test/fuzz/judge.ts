import { admit, complaint, newCrowd } from "../e2e/crowd.ts";
import type { WholeResources } from "../whole-resources.ts";
import { checkSource } from "./check-source.ts";
import { keyOf, type RandomSource, randomSource } from "./objects/random-source.ts";

/** A seed whose world breaks a law, and how. */
export interface Failure {
  readonly seed: number;
  readonly findings: readonly string[];
}

type Party = readonly [who: string, resources: WholeResources];

/** Checks the worlds of some seeds; one Envoy judges all of their answers, and more only when it complains. */
export function judge(seeds: readonly number[]): readonly Failure[] {
  const failures: Failure[] = [];
  const parties: { readonly seed: number; readonly party: Party }[] = [];
  for (const seed of seeds) {
    const { findings, polled } = checkSource(randomSource(seed));
    if (findings.length > 0) failures.push({ seed, findings });
    for (const [id, resources] of polled) parties.push({ seed, party: [`${seed} ${id}`, resources] });
  }
  const refused = search(parties, (some) => envoySays(some.map(({ party }) => party)));
  return [
    ...failures,
    ...refused.map(({ element, reason }) => ({ seed: element.seed, findings: [`Envoy: ${reason}`] })),
  ];
}

/** Everything that is wrong with one source, Envoy's judgement included. */
export function findingsOf(source: RandomSource): readonly string[] {
  const { findings, polled } = checkSource(source);
  const reason = envoySays([...polled]);
  return reason === "" ? findings : [...findings, `Envoy: ${reason}`];
}

function envoySays(parties: readonly Party[]): string {
  const crowd = newCrowd();
  for (const [who, resources] of parties) admit(crowd, who, resources);
  return complaint(crowd);
}

interface Blamed<T> {
  readonly element: T;
  readonly reason: string;
}

/** The elements that are complained of, found by halves. */
function search<T>(elements: readonly T[], complain: (some: readonly T[]) => string): readonly Blamed<T>[] {
  if (elements.length === 0) return [];
  const reason = complain(elements);
  if (reason === "") return [];
  const [element] = elements;
  if (elements.length === 1 && element !== undefined) return [{ element, reason }];
  const half = Math.ceil(elements.length / 2);
  return [...search(elements.slice(0, half), complain), ...search(elements.slice(half), complain)];
}

/** The source with every object gone that the failure does not need. */
export function shrink(source: RandomSource): RandomSource {
  const kind = kindOf(findingsOf(source));
  const stillFails = (candidate: RandomSource): boolean => kindOf(findingsOf(candidate)) === kind;
  let smallest = source;
  const attempt = (candidate: RandomSource): void => {
    if (stillFails(candidate)) smallest = candidate;
  };
  attempt({ ...smallest, meshConfig: undefined });
  for (const proxy of source.proxies) {
    attempt({ ...smallest, proxies: smallest.proxies.filter((one) => one !== proxy) });
  }
  for (let size = 8; size >= 1; size = Math.floor(size / 2)) {
    for (let at = smallest.manifests.length - size; at >= 0; at -= size) {
      const manifests = smallest.manifests.filter((_, index) => index < at || index >= at + size);
      attempt({ ...smallest, manifests });
    }
  }
  return smallest;
}

/** What goes wrong, without the names that it goes wrong with. */
const kindOf = (findings: readonly string[]): string =>
  (findings[0] ?? "").replaceAll(/\[[^\]]*\]|[0-9a-f]{8,}/g, "").slice(0, 24);

/** A source as text for a report. */
export const textOf = (source: RandomSource): string =>
  [
    ...source.manifests.map((manifest) => `# ${keyOf(manifest)}\n${JSON.stringify(manifest)}`),
    `# mesh.yaml\n${JSON.stringify(source.meshConfig)}`,
    `# named proxies\n${JSON.stringify(source.proxies)}`,
  ].join("\n");
