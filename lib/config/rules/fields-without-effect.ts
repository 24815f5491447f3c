import { type Finding, info, type Path } from "../finding.ts";

/** A field that is read and checked, and changes nothing that a proxy is told over xDS. */
interface FieldWithoutEffect {
  /** `servers`, `[]` for every element of the list, `defaultEndpoint`. */
  readonly steps: readonly string[];
  /** Why. */
  readonly message: string;
  /** What to write instead; "" where nothing would do. */
  readonly hint: string;
}

const field = (path: string, message: string, hint = ""): FieldWithoutEffect => ({
  steps: path.split("."),
  message,
  hint,
});

/**
 * By kind. Whatever else a kind's schema reads has an effect, or a rule of its own that says it has none.
 * @see docs/how-istio-does-it/kind-rules.md#fields-without-effect
 */
const byKind: Readonly<Record<string, readonly FieldWithoutEffect[]>> = {
  EnvoyFilter: [
    field(
      "configPatches.[].patch.filterClass",
      "has no effect: Istio 1.30 does not read it",
      "say where the filter goes by match and operation",
    ),
    field(
      "configPatches.[].match.listener.portName",
      "has no effect: Istio 1.30 does not compare it",
      "write portNumber, or the name of the listener",
    ),
  ],
  Gateway: [
    field(
      "servers.[].defaultEndpoint",
      "has no effect on gateways: Istio 1.30 reads it for sidecars alone",
      "route by a VirtualService",
    ),
  ],
  Telemetry: [
    field(
      "metrics",
      "has no effect on a stock Envoy, which lacks Istio's filter for metrics",
      "use Envoy's own statistics",
    ),
  ],
  TrafficExtension: wasmFields("wasm."),
  VirtualService: [
    field(
      "tcp.[].match.[].sourceSubnet",
      "has no effect: Istio 1.30 does not compare it",
      "select the source by sourceLabels or sourceNamespace",
    ),
  ],
  WasmPlugin: wasmFields(""),
};

function wasmFields(prefix: string): readonly FieldWithoutEffect[] {
  return [
    field(
      `${prefix}imagePullSecret`,
      "is not sent to the proxy: snapshots hold no credentials, and Istio's agent does not pull the image without one",
      "serve the code without credentials, by its sha256",
    ),
    field(`${prefix}verificationKey`, "has no effect: Istio 1.30 does not read it", "write the code's sha256"),
  ];
}

/** Says of each field of a spec that has no effect that it has none; paths begin at the spec. */
export function* withoutEffectRules(kind: string, spec: unknown): Generator<Finding> {
  for (const { steps, message, hint } of byKind[kind] ?? []) {
    for (const at of placesOf(spec, steps, [])) yield info(at, message, hint);
  }
}

function* placesOf(value: unknown, steps: readonly string[], at: Path): Generator<Path> {
  const [step, ...rest] = steps;
  if (step === undefined) {
    if (value !== undefined) yield at;
  } else if (step === "[]") {
    if (Array.isArray(value)) for (const [index, one] of value.entries()) yield* placesOf(one, rest, [...at, index]);
  } else if (typeof value === "object" && value !== null && Object.hasOwn(value, step)) {
    const member: unknown = Reflect.get(value, step);
    yield* placesOf(member, rest, [...at, step]);
  }
}
