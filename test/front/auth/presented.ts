import { X509Certificate } from "node:crypto";

/** `request.cf` of a client whose certificate Cloudflare has verified. */
export const verifiedByCloudflare = (pem: string) => ({
  tlsClientAuth: {
    certPresented: "1",
    certVerified: "SUCCESS",
    certRevoked: "0",
    // Text that is no certificate stays as it is: the front has to refuse it.
    certRFC9440: `:${derOf(pem).toString("base64")}:`,
    certRFC9440TooLarge: false,
  },
});

function derOf(pem: string): Buffer {
  try {
    return new X509Certificate(pem).raw;
  } catch {
    return Buffer.from(pem);
  }
}

/** What an HTTP API of API Gateway adds to the event of a client whose certificate its trust store has verified. */
export const gatewayEvent = (clientCertPem: string) => ({
  requestContext: { authentication: { clientCert: { clientCertPem, subjectDN: "O=test", issuerDN: "O=test" } } },
});
