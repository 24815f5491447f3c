/**
 * The legacy way to name a service: `service` (a full name, verbatim), or a name completed with namespace and domain.
 * @see docs/how-istio-does-it/names.md#short-names
 * @see docs/how-istio-does-it/kind-rules.md#legacy-service-references
 */
export interface IstioService {
  readonly name?: string;
  readonly namespace?: string;
  readonly domain?: string;
  readonly service?: string;
  readonly labels?: Readonly<Record<string, string>>;
}
