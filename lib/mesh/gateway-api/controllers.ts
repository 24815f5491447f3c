/** Of Gateways in other clusters: they are known here, and nothing is made of them. */
export const remoteController = "istio.io/unmanaged-gateway";
export const remoteClassName = "istio-remote";
/** Of the status of policies for services, whatever the Gateways' controller is. */
export const meshController = "istio.io/mesh-controller";
