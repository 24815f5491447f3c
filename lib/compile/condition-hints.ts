const cited = "(docs/gateway-api.md)";
const place = `add the Service <gateway>-<class> with the gateway's pods, or name a Service in spec.addresses ${cited}`;
const certificate = "give the certificate to `portolan secret apply`, or mend the Secret that is named";
const authority = "add the ConfigMap with the key ca.crt, or mend the reference";
const otherPort = "give the listener a port or a hostname of its own";
const parent = "mend name, sectionName and port of the parentRef, or add the listener";

/** What to do about a condition, by its reason. */
const hints: ReadonlyMap<string, string> = new Map([
  ["AddressNotUsable", `Portolan deploys no gateways: ${place}`],
  [
    "AddressNotAssigned",
    "give the Service ready pods, and a load balancer its address; it counts as soon as it is there",
  ],
  ["UnsupportedAddress", `write addresses of type Hostname, the names of Services ${cited}`],
  ["DeprecatedField", "write spec.infrastructure instead of the annotation"],
  ["BackendNotFound", "add the Service and the port that the backendRef names, or mend its name, namespace or port"],
  ["InvalidDestination", "mend the backendRef's host or port"],
  ["InvalidKind", `name an object of a kind that is served ${cited}`],
  ["RefNotPermitted", "add a ReferenceGrant in the namespace of what is named"],
  ["InvalidCertificateRef", certificate],
  ["InvalidCACertificateRef", authority],
  ["InvalidCACertificateKind", "name a ConfigMap or a Secret"],
  ["NoValidCACertificate", authority],
  ["InvalidClientCertificateRef", certificate],
  ["InvalidParameters", "add the ConfigMap that spec.infrastructure.parametersRef names, or mend the reference"],
  ["ListenersNotValid", "see the conditions of each listener"],
  ["HostnameConflict", otherPort],
  ["ProtocolConflict", otherPort],
  ["InvalidFilter", `write a filter that is served ${cited}`],
  ["InvalidRouteKinds", "allow kinds of routes that the listener's protocol takes"],
  [
    "UnsupportedProtocol",
    "write HTTP, HTTPS or TLS, with a tls section, or TCP, which up to Istio 1.30 needs alphaKinds",
  ],
  ["NoMatchingParent", parent],
  ["NoMatchingListenerHostname", "give the route a hostname that the listener's covers, or the listener another"],
  ["NotAllowedByListeners", "let the listener's allowedRoutes take the route's kind and namespace"],
  ["NotAllowed", "let the Gateway's allowedListeners take the ListenerSet's namespace"],
  ["TargetNotFound", "mend the targetRef, or add what it names"],
  ["Conflicted", "leave one of the two: the older one counts"],
  ["Invalid", "mend what the message names"],
]);

/** What to do about a condition that is not as it should be. */
export const conditionHint = (reason: string): string => hints.get(reason) ?? "mend what the message names";
