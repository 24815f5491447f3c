import type { ClassProxy } from "../../mesh/views/views.ts";

/**
 * The names by which a program may ask for a host (`xds:///NAME:PORT`): in full from anywhere, and by the short forms within its own
 * namespace. Those of another namespace are not found, other than by an Envoy.
 * @see istio 1.30.3 pilot/pkg/networking/grpcgen/lds.go, tryFindFQDN
 */
export function targetNames(
  hostname: string,
  { namespace, dnsDomain }: Pick<ClassProxy, "namespace" | "dnsDomain">,
): readonly [string, ...string[]] {
  const own = `.${dnsDomain}`;
  if (!hostname.endsWith(own)) return [hostname];
  const short = hostname.slice(0, -own.length);
  if (short === "") return [hostname];
  const suffixes = [namespace, `${namespace}.svc`].filter((suffix) => dnsDomain.startsWith(suffix));
  return [hostname, ...(short.includes(".") ? [] : [short]), ...suffixes.map((suffix) => `${short}.${suffix}`)];
}
