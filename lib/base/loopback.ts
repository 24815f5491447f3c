/** 127.0.0.0/8, also as IPv6 writes it, in both forms. */
const loopbackIpv4 = /^(?:::ffff:)?127(?:\.\d{1,3}){3}$|^::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}$/;

/**
 * Whether a host is this machine's own, so that no other machine can connect to it.
 *
 * @param host a name or an address, in lower case; an IPv6 address in its shortest form, without brackets
 */
export const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || loopbackIpv4.test(host);

/** The host of a URL as sockets take it: an address of IPv6 has no brackets. */
export const hostIn = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");

/** Whether a URL leads to this machine. */
export const leadsToLoopback = (url: URL): boolean => isLoopback(hostIn(url));
