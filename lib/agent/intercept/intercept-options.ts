/** Whose connections go through Envoy. */
export interface InterceptOptions {
  /**
   * How what comes in gets to Envoy. `TPROXY` leaves source and destination as they are, so that the workload sees who calls it; Envoy
   * then has to be told so (`interceptionMode` of its node), and needs the capability NET_ADMIN.
   */
  readonly mode: "REDIRECT" | "TPROXY";
  /** Ports of Envoy's listeners for what goes out, and what comes in. */
  readonly outboundPort: number;
  readonly inboundPort: number;
  /** User and group of Envoy, whose own connections are left alone. */
  readonly uid: number;
  readonly gid: number;
  /** `*`, or CIDRs of IPv4 and IPv6. */
  readonly includeOutbound: readonly string[];
  readonly excludeOutbound: readonly string[];
  readonly excludeOutboundPorts: readonly number[];
  /** `*`, or ports. */
  readonly includeInboundPorts: readonly string[];
  readonly excludeInboundPorts: readonly number[];
  /** `*`, or the nameservers whose questions the agent answers, by their addresses; none: DNS is left alone. */
  readonly captureDns: readonly string[];
  /** Port of the agent for DNS. */
  readonly dnsPort: number;
}

/** As Istio's injection sets them. */
export const defaultIntercept: InterceptOptions = {
  mode: "REDIRECT",
  outboundPort: 15_001,
  inboundPort: 15_006,
  uid: 1337,
  gid: 1337,
  includeOutbound: ["*"],
  excludeOutbound: [],
  excludeOutboundPorts: [],
  includeInboundPorts: ["*"],
  excludeInboundPorts: [15_020, 15_021, 15_090],
  captureDns: [],
  dnsPort: 15_053,
};
