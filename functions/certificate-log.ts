import type { FrontOptions } from "../lib/front/front.ts";

/** The lines about certificates that a function logs: one for each that is issued or refused. */
export const certificateLog: Pick<FrontOptions, "onCertificate" | "onCertificateRefused"> = {
  onCertificate: (certificate) => console.log(JSON.stringify({ event: "a certificate was issued", certificate })),
  onCertificateRefused: (certificate) =>
    console.warn(JSON.stringify({ event: "a certificate was refused", certificate })),
};
