import { z } from "zod";
import type { Sidecar } from "../kinds/sidecar.ts";
import { connectionPool } from "./destination-rule.ts";
import { serverTls } from "./gateway.ts";
import { message } from "./message.ts";
import { text, texts, uint32 } from "./scalars.ts";
import { labelsSelector } from "./selector.ts";
import { destination } from "./virtual-service.ts";

const captureMode = z.enum(["DEFAULT", "IPTABLES", "NONE"]);
const port = message({ plain: { number: uint32, protocol: text, name: text, targetPort: uint32 } });

export const sidecar: z.ZodType<Sidecar> = message({
  plain: {
    ingress: message({
      required: { port },
      plain: { bind: text, captureMode, defaultEndpoint: text },
      kept: { tls: serverTls, connectionPool },
    }).array(),
    egress: message({
      required: { hosts: texts.default([]) },
      plain: { bind: text, captureMode },
      kept: { port },
    }).array(),
  },
  kept: {
    workloadSelector: labelsSelector,
    inboundConnectionPool: connectionPool,
    outboundTrafficPolicy: message({
      plain: { mode: z.enum(["REGISTRY_ONLY", "ALLOW_ANY", "ALLOW_ANY_DYNAMIC_DNS"]) },
      kept: { egressProxy: destination },
    }),
  },
});
