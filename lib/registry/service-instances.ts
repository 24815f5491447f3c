import type { Endpoint, Service, ServiceInstance, ServicePort } from "./service.ts";

/** Service port that an endpoint is behind: joined by number where the endpoint says one, else by name. */
function portOfEndpoint(service: Service, endpoint: Endpoint): ServicePort | undefined {
  const { servicePortNumber, servicePortName } = endpoint;
  return service.ports.find((port) =>
    servicePortNumber === undefined ? port.name === servicePortName : port.port === servicePortNumber,
  );
}

/** Every endpoint of a service with the port that it is behind. */
export function instancesOf(service: Service, endpoints: readonly Endpoint[]): readonly ServiceInstance[] {
  return endpoints.flatMap((endpoint) => {
    const servicePort = portOfEndpoint(service, endpoint);
    return servicePort === undefined ? [] : [{ service, servicePort, endpoint }];
  });
}
