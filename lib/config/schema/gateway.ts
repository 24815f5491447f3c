import { z } from "zod";
import type { Gateway, ServerTLSSettings } from "../kinds/gateway.ts";
import { message } from "./message.ts";
import { flag, stringMap, text, texts, uint32 } from "./scalars.ts";

const tlsVersion = z.enum(["TLS_AUTO", "TLSV1_0", "TLSV1_1", "TLSV1_2", "TLSV1_3"]);

export const serverTls: z.ZodType<ServerTLSSettings> = message({
  plain: {
    httpsRedirect: flag,
    mode: z.enum(["PASSTHROUGH", "SIMPLE", "MUTUAL", "AUTO_PASSTHROUGH", "ISTIO_MUTUAL", "OPTIONAL_MUTUAL"]),
    serverCertificate: text,
    privateKey: text,
    caCertificates: text,
    caCrl: text,
    credentialName: text,
    credentialNames: texts,
    caCertCredentialName: text,
    tlsCertificates: message({ plain: { serverCertificate: text, privateKey: text, caCertificates: text } }).array(),
    subjectAltNames: texts,
    verifyCertificateSpki: texts,
    verifyCertificateHash: texts,
    minProtocolVersion: tlsVersion,
    maxProtocolVersion: tlsVersion,
    cipherSuites: texts,
    ecdhCurves: texts,
    alpnProtocols: texts,
  },
  kept: { insecureSkipVerify: flag },
});

const server = message({
  required: {
    port: message({
      required: { number: uint32.default(0), protocol: text.default(""), name: text.default("") },
      plain: { targetPort: uint32 },
    }),
    hosts: texts.default([]),
  },
  plain: { bind: text, defaultEndpoint: text, name: text },
  kept: { tls: serverTls },
});

export const gateway: z.ZodType<Gateway> = message({
  required: { servers: server.array().default([]) },
  plain: { selector: stringMap },
});
