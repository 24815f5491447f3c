/**
 * The legacy way to name a service: `service` (a full name, verbatim), or a name completed with namespace and domain.
 * @see model-config 1.6, 9.1
 */
export interface IstioService {
  readonly name?: string;
  readonly namespace?: string;
  readonly domain?: string;
  readonly service?: string;
  readonly labels?: Readonly<Record<string, string>>;
}
