import type { CertificateAuthority } from "./certificate-authority.ts";

/** A CA that is opened when it is first asked for something; an opening that failed is tried again. */
export function lazyAuthority(open: () => Promise<CertificateAuthority>): CertificateAuthority {
  let opened: Promise<CertificateAuthority> | undefined;
  const authority = () => {
    opened ??= open().catch((cause: unknown) => {
      opened = undefined;
      throw cause;
    });
    return opened;
  };
  return {
    create: async (request) => (await authority()).create(request),
    roots: async () => (await authority()).roots(),
    issuers: async () => (await authority()).issuers(),
    serverCertificate: async (names) => (await authority()).serverCertificate(names),
  };
}
