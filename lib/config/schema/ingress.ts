import { z } from "zod";
import type { Ingress, IngressBackend, IngressClass } from "../kinds/ingress.ts";

/**
 * Kubernetes objects: the API server has validated them and knows more fields than we do, so unknown ones pass unread.
 */
const currentBackend: z.ZodType<IngressBackend> = z.object({
  service: z.exactOptional(
    z.object({
      name: z.string(),
      port: z.exactOptional(
        z.object({ number: z.exactOptional(z.int().min(0).max(65535)), name: z.exactOptional(z.string()) }),
      ),
    }),
  ),
  resource: z.exactOptional(z.object({ apiGroup: z.exactOptional(z.string()), kind: z.string(), name: z.string() })),
});

/** Before `networking.k8s.io/v1` a backend was a name and a port. */
const formerBackend = z
  .object({ serviceName: z.string(), servicePort: z.union([z.int().min(0).max(65535), z.string()]) })
  .transform(
    ({ serviceName, servicePort }): IngressBackend => ({
      service: {
        name: serviceName,
        port: typeof servicePort === "number" ? { number: servicePort } : { name: servicePort },
      },
    }),
  );

const backend: z.ZodType<IngressBackend> = z.union([formerBackend, currentBackend]);

const path = z.object({
  path: z.exactOptional(z.string()),
  pathType: z.exactOptional(z.enum(["Exact", "Prefix", "ImplementationSpecific"])),
  backend,
});

export const ingress: z.ZodType<Ingress> = z
  .object({
    ingressClassName: z.exactOptional(z.string()),
    defaultBackend: z.exactOptional(backend),
    backend: z.exactOptional(backend),
    tls: z.exactOptional(
      z.array(z.object({ hosts: z.exactOptional(z.array(z.string())), secretName: z.exactOptional(z.string()) })),
    ),
    rules: z.exactOptional(
      z.array(
        z.object({ host: z.exactOptional(z.string()), http: z.exactOptional(z.object({ paths: z.array(path) })) }),
      ),
    ),
  })
  .transform(({ backend: former, ...rest }) => ({
    ...rest,
    ...(former === undefined || rest.defaultBackend !== undefined ? {} : { defaultBackend: former }),
  }));

export const ingressClass: z.ZodType<IngressClass> = z.object({
  controller: z.exactOptional(z.string()),
  parameters: z.exactOptional(z.record(z.string(), z.unknown())),
});
