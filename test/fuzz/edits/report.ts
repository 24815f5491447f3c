import { isDeepStrictEqual } from "node:util";
import { defaultWorldOptions } from "../../../lib/compile/world/world-of.ts";
import type { Coverage } from "./coverage.ts";
import { type Folder, type Placed, placeKey } from "./folder.ts";
import type { WarmFailure } from "./sequence.ts";
import { findingsAfter, type History, shrink } from "./shrink.ts";

/** How long one failure may be made smaller, unless somebody has more time. */
const shrinkMs = 60_000;

/** A failure as small as it gets, and as a case for `warm-found.test.ts`. */
export function failureText({ seed, what, findings, ...history }: WarmFailure): string {
  const smallest = shrink(history, Date.now() + shrinkMs);
  const said = findingsAfter(smallest);
  return [
    `seed ${seed}, after ${history.folders.length - 1} edits, the last of them: ${what}`,
    ...(said.length > 0 ? said : findings).map((finding) => `  ${finding}`),
    "as a case:",
    caseText(smallest),
  ].join("\n");
}

/** TypeScript, ready to be pasted: the objects that all folders have, then what each has besides. */
function caseText({ options, folders }: History): string {
  const changed = Object.fromEntries(
    Object.entries(options).filter(([name, value]) => !isDeepStrictEqual(value, { ...defaultWorldOptions }[name])),
  );
  const [first] = folders;
  const isEverywhere = (placed: Placed) =>
    folders.every(({ objects }) => objects.some((other) => isDeepStrictEqual(other, placed)));
  const both = first?.objects.filter(isEverywhere) ?? [];
  const keys = new Set(both.map(placeKey));
  const folderText = ({ meshConfig, networks, objects }: Folder): string =>
    JSON.stringify({
      ...(meshConfig === undefined ? {} : { meshConfig }),
      ...(networks === undefined ? {} : { networks }),
      objects: objects.filter((placed) => !keys.has(placeKey(placed))),
    });
  return [
    "{",
    '  rule: "…",',
    ...(Object.keys(changed).length === 0 ? [] : [`  options: ${JSON.stringify(changed)},`]),
    `  both: ${JSON.stringify(both)},`,
    "  folders: [",
    ...folders.map((folder) => `    ${folderText(folder)},`),
    "  ],",
    "}",
  ].join("\n");
}

/** How much of what can be edited was: kind by kind, and the fields that never were. */
export function coverageText({ edits, felt }: Coverage): readonly string[] {
  const byKind = Map.groupBy(edits, ([place]) => place.slice(0, place.indexOf(" ")));
  return [...byKind].map(([kind, places]) => {
    const touched = places.filter(([, count]) => count > 0);
    const changing = places.filter(([place]) => felt.has(place));
    return `${kind}: ${touched.length} of ${places.length} places edited, ${changing.length} of them alone changed an answer`;
  });
}

/** Fields that rules refuse whatever is written there; no edit of one can be served. */
const refused: readonly RegExp[] = [
  /VirtualService spec\.http\.\[\]\.fault\.(delay\.exponentialDelay|abort\.http2Error)$/,
  /Sidecar spec\.(ingress|egress)\.\[\]\.port\.targetPort$/,
  /Sidecar spec\.ingress\.\[\]\.tls\.(credentialNames?|tlsCertificates|subjectAltNames)\b/,
  /(Route|Ingress|Egress)Rule spec\.destination\.labels\.\{\}$/,
  /(Route|Ingress)Rule spec\.match\.udp\./,
  /RouteRule spec\.(l4Fault|httpFault\.delay\.exponentialDelay|httpFault\.abort\.grpcStatus)$/,
  /MeshPolicy spec\.targets\./,
  /spec\.targetRefs?\.(\[\]\.)?namespace$/,
  // One value is allowed, and required.
  /ServiceRoleBinding spec\.roleRef\.kind$/,
  /mesh\.yaml meshMTLS\.ecdhCurves\.\[\]$/,
];

/** Fields of schemas that were never edited; labels and annotations aside, of which most kinds have no use for most. */
export const neverEdited = ({ edits }: Coverage): readonly string[] =>
  [...edits]
    .filter(
      ([place, count]) => count === 0 && !place.includes(" metadata.") && !refused.some((each) => each.test(place)),
    )
    .map(([place]) => place);
