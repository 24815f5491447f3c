/**
 * What Istio 1.30.3 takes, in ms, on 2 shared cores; measured elsewhere, copied from the sheet
 * that came with the inputs. Cold: its xDS cache off; warm: on, and filled by a like proxy.
 */
export interface IstioFigure {
  readonly cold: number;
  readonly warm?: number;
}

interface MeshFigures {
  readonly context: IstioFigure;
  readonly sidecar: IstioFigure;
  readonly gateway: IstioFigure;
  /** One VirtualService changed: push context, scope and CDS, LDS, RDS of one sidecar. */
  readonly change: IstioFigure;
  /** MiB, holding the objects twice. */
  readonly heapMib: number;
}

/** By services of the synthetic mesh. */
export const istioMesh: ReadonlyMap<number, MeshFigures> = new Map([
  [
    100,
    {
      context: { cold: 0.3 },
      sidecar: { cold: 12, warm: 1.7 },
      gateway: { cold: 11, warm: 1.2 },
      change: { cold: 4.8, warm: 1.2 },
      heapMib: 22,
    },
  ],
  [
    1000,
    {
      context: { cold: 3.1 },
      sidecar: { cold: 116, warm: 16 },
      gateway: { cold: 109, warm: 17 },
      change: { cold: 51, warm: 10 },
      heapMib: 106,
    },
  ],
  [
    5000,
    {
      context: { cold: 23 },
      sidecar: { cold: 686, warm: 112 },
      gateway: { cold: 587, warm: 67 },
      change: { cold: 261, warm: 86 },
      heapMib: 474,
    },
  ],
]);

interface CaseFigures extends IstioFigure {
  /** Resources: clusters / load assignments / listeners / route tables. */
  readonly resources: string;
  readonly context: number;
}

/** One proxy, all four types, without the push context. */
export const istioCases: ReadonlyMap<string, CaseFigures> = new Map([
  ["gateways", { resources: "1003/1002/2/1001", context: 5.39, cold: 95.4, warm: 70.4 }],
  ["gateways-shared", { resources: "1003/1002/2/2", context: 6.52, cold: 181, warm: 124 }],
  ["knative-gateway", { resources: "3/2/2/2", context: 0.08, cold: 4.84, warm: 4.68 }],
  ["http", { resources: "105/101/3/1", context: 0.17, cold: 4.35, warm: 0.98 }],
  ["tcp", { resources: "105/101/103/0", context: 0.16, cold: 4.71, warm: 1.5 }],
  ["tls", { resources: "105/101/103/0", context: 0.18, cold: 4.61, warm: 1.98 }],
  ["auto", { resources: "105/101/103/101", context: 0.33, cold: 8.74, warm: 8.69 }],
  ["strict", { resources: "11/4/6/2", context: 0.01, cold: 0.7, warm: 0.5 }],
  ["disabled", { resources: "11/4/6/2", context: 0.01, cold: 0.94, warm: 0.77 }],
  ["externalname", { resources: "5/1/3/1", context: 0.26, cold: 1.19, warm: 0.99 }],
  ["telemetry-api", { resources: "411/404/6/2", context: 0.21, cold: 13.6, warm: 4.48 }],
  ["virtualservice", { resources: "105/101/3/1", context: 0.23, cold: 6.16, warm: 1.91 }],
  ["authorizationpolicy", { resources: "7/2/4/1", context: 0.13, cold: 4.41, warm: 2.2 }],
  ["serviceentry-workloadentry", { resources: "411/404/6/2", context: 0.43, cold: 50.9, warm: 4.61 }],
  ["empty", { resources: "411/404/306/102", context: 0.36, cold: 39.9, warm: 13.5 }],
]);

/** 20 sidecars in 20 namespaces, N=1000, one worker; taken in a phase in which the machine was half as fast. */
export const istioFleet: Readonly<Record<"own namespace" | "everything", IstioFigure>> = {
  "own namespace": { cold: 282, warm: 28.8 },
  everything: { cold: 5967, warm: 583 },
};
