/**
 * Messages of the API of Envoy 1.40, with its contributed extensions, that an Any may hold and whose fields are not known here, by their package below `envoy.`. A line for each.
 */
export const envoyTypeNames = `
config.cluster.redis: RedisClusterConfig
config.common.matcher.v3: Matcher
config.grpc_credential.v3: FileBasedMetadataConfig
config.listener.v3: ActiveRawUdpListenerConfig
config.metrics.v3: DogStatsdSink HystrixSink MetricsServiceConfig StatsdSink
config.overload.v3: ScaleTimersOverloadActionConfig ShrinkHeapConfig
config.retry.previous_priorities: PreviousPrioritiesConfig
config.tap.v3: BufferedAdminSink FilePerTapSink HttpGenericBodyMatch HttpHeadersMatch MatchPredicate
config.tap.v3: OutputConfig OutputSink StreamingAdminSink StreamingGrpcSink TapConfig
config.trace.v3: DynamicOtConfig LightstepConfig TraceServiceConfig XRayConfig
config.upstream.local_address_selector.v3: DefaultLocalAddressSelector
extensions.access_loggers.dynamic_modules.v3: DynamicModuleAccessLog
extensions.access_loggers.filters.process_ratelimit.v3: DynamicTokenBucket ProcessRateLimitFilter
extensions.access_loggers.fluentd.v3: FluentdAccessLogConfig
extensions.access_loggers.stats.v3: Config
extensions.access_loggers.stream.v3: StderrAccessLog
extensions.access_loggers.wasm.v3: WasmAccessLog
extensions.bootstrap.dynamic_modules.v3: DynamicModuleBootstrapExtension
extensions.bootstrap.internal_listener.v3: InternalListener
extensions.bootstrap.reverse_tunnel.downstream_socket_interface.v3: DownstreamReverseConnectionSocketInterface
extensions.bootstrap.reverse_tunnel.upstream_socket_interface.v3: UpstreamReverseConnectionSocketInterface
extensions.clusters.aggregate.v3: AggregateClusterResource
extensions.clusters.composite.v3: ClusterConfig
extensions.clusters.dns.v3: DnsCluster
extensions.clusters.dynamic_modules.v3: ClusterConfig
extensions.clusters.mcp_multicluster.v3: ClusterConfig
extensions.clusters.original_dst.v3: OriginalDstCluster
extensions.clusters.redis.v3: RedisClusterConfig
extensions.clusters.reverse_connection.v3: ReverseConnectionClusterConfig
extensions.common.async_files.v3: AsyncFileManagerConfig
extensions.common.aws.v3: AssumeRoleCredentialProvider AssumeRoleWithWebIdentityCredentialProvider
extensions.common.aws.v3: AwsCredentialProvider ConfigCredentialProvider ContainerCredentialProvider
extensions.common.aws.v3: CredentialsFileCredentialProvider EnvironmentCredentialProvider
extensions.common.aws.v3: IAMRolesAnywhereCredentialProvider InlineCredentialProvider
extensions.common.aws.v3: InstanceProfileCredentialProvider
extensions.common.matching.v3: ExtensionWithMatcher ExtensionWithMatcherPerRoute
extensions.common.tap.v3: AdminConfig CommonExtensionConfig
extensions.compression.qatzip.compressor.v3alpha: Qatzip
extensions.compression.qatzstd.compressor.v3alpha: Qatzstd
extensions.compression.zstd.compressor.v3: Zstd
extensions.compression.zstd.decompressor.v3: Zstd
extensions.config.v3alpha: KeyValueStoreXdsDelegateConfig
extensions.config.validators.minimum_clusters.v3: MinimumClustersValidator
extensions.content_parsers.json.v3: JsonContentParser
extensions.dynamic_modules.v3: DynamicModuleConfig
extensions.early_data.v3: DefaultEarlyDataPolicy
extensions.filters.common.dependency.v3: Dependency FilterDependencies MatchingRequirements
extensions.filters.common.jwks.v3: JwksAsyncFetch JwtHandshakeValidator RemoteJwks
extensions.filters.common.matcher.action.v3: SkipFilter
extensions.filters.common.workload_discovery.v3: ApplicationTunnel BootstrapExtension GatewayAddress Locality
extensions.filters.common.workload_discovery.v3: NamespacedHostname NetworkAddress Port PortList Workload
extensions.filters.http.a2a.v3: A2A MethodParsingConfig ParserConfig
extensions.filters.http.ai_protocol_manager.v3: AiProtocolManager AiProtocolManagerPerRoute
extensions.filters.http.alpn.v3: FilterConfig
extensions.filters.http.alternate_protocols_cache.v3: FilterConfig
extensions.filters.http.api_key_auth.v3: ApiKeyAuth ApiKeyAuthPerRoute Credential Forwarding KeySource
extensions.filters.http.aws_eventstream_parser.v3: AwsEventstreamParser
extensions.filters.http.aws_lambda.v3: Config Credentials PerRouteConfig
extensions.filters.http.aws_request_signing.v3: AwsRequestSigning AwsRequestSigningPerRoute
extensions.filters.http.bandwidth_share.v3: BandwidthShare
extensions.filters.http.body_size_limit.v3: BodySizeLimit
extensions.filters.http.cache.v3: CacheConfig
extensions.filters.http.cache_v2.v3: CacheV2Config
extensions.filters.http.checksum.v3alpha: ChecksumConfig
extensions.filters.http.composite.v3: CompositePerRoute DynamicConfig ExecuteFilterAction
extensions.filters.http.composite.v3: FilterChainConfiguration
extensions.filters.http.connect_grpc_bridge.v3: FilterConfig
extensions.filters.http.credential_injector.v3: CredentialInjector
extensions.filters.http.custom_response.v3: CustomResponse
extensions.filters.http.dynamic_forward_proxy.v3: PerRouteConfig
extensions.filters.http.dynamic_modules.v3: DynamicModuleFilter DynamicModuleFilterPerRoute
extensions.filters.http.dynamo.v3: Dynamo
extensions.filters.http.ext_authz.v3: ShadowDecision
extensions.filters.http.ext_proc.v3: ExtProcHttpService
extensions.filters.http.file_server.v3: FileServerConfig
extensions.filters.http.file_system_buffer.v3: BufferBehavior FileSystemBufferFilterConfig StreamConfig
extensions.filters.http.filter_chain.v3: FilterChain FilterChainConfig FilterChainConfigPerRoute
extensions.filters.http.gcp_authn.v3: Audience GcpAuthnFilterConfig TokenCacheConfig TokenHeader
extensions.filters.http.geoip.v3: Geoip
extensions.filters.http.golang.v3alpha: Config ConfigsPerRoute RouterPlugin
extensions.filters.http.grpc_field_extraction.v3: FieldExtractions GrpcFieldExtractionConfig
extensions.filters.http.grpc_field_extraction.v3: RequestFieldValueDisposition
extensions.filters.http.grpc_json_reverse_transcoder.v3: GrpcJsonReverseTranscoder
extensions.filters.http.grpc_json_transcoder.v3: UnknownQueryParams
extensions.filters.http.grpc_stats.v3: FilterObject
extensions.filters.http.gzip.v3: Gzip
extensions.filters.http.istio_stats.v3: MetricConfig MetricDefinition PluginConfig
extensions.filters.http.jwt_authn.v3: ExtractOnlyWithoutValidation
extensions.filters.http.language.v3alpha: Language
extensions.filters.http.mcp.v3: Mcp McpOverride ParserConfig
extensions.filters.http.mcp_json_rest_bridge.v3: HttpRule McpJsonRestBridge McpJsonRestBridgePerRoute
extensions.filters.http.mcp_json_rest_bridge.v3: McpServerInfo ServerInfo ServerToolConfig ToolConfig
extensions.filters.http.mcp_json_rest_bridge.v3: ToolsListLocal ToolsListSpecificConfig
extensions.filters.http.mcp_json_rest_bridge.v3: TraceContextExtractionOptions
extensions.filters.http.mcp_router.v3: DynamicMetadataSource HeaderSource IdentityExtractor McpRouter
extensions.filters.http.mcp_router.v3: SessionIdentity ValidationPolicy
extensions.filters.http.oauth2.v3: CookieConfig CookieConfigs OAuth2PerRoute OAuth2TokenForwarding
extensions.filters.http.oauth2.v3: PostLogoutRedirectUri PrivateKeyJwtConfig
extensions.filters.http.peak_ewma.v3alpha: PeakEwmaConfig
extensions.filters.http.peer_metadata.v3: Config
extensions.filters.http.proto_api_scrubber.v3: DescriptorSet MessageRestrictions MethodRestrictions
extensions.filters.http.proto_api_scrubber.v3: ProtoApiScrubberConfig RemoveFieldAction RestrictionConfig
extensions.filters.http.proto_api_scrubber.v3: Restrictions
extensions.filters.http.proto_message_extraction.v3: MethodExtraction ProtoMessageExtractionConfig
extensions.filters.http.rate_limit_quota.v3: RateLimitQuotaBucketSettings RateLimitQuotaFilterConfig
extensions.filters.http.rate_limit_quota.v3: RateLimitQuotaOverride
extensions.filters.http.sse_to_metadata.v3: SseToMetadata
extensions.filters.http.sxg.v3alpha: SXG
extensions.filters.http.tap.v3: Tap
extensions.filters.http.thrift_to_metadata.v3: FieldSelector KeyValuePair Rule ThriftToMetadata
extensions.filters.http.thrift_to_metadata.v3: ThriftToMetadataPerRoute
extensions.filters.http.transform.v3: BodyTransformation TransformConfig Transformation
extensions.filters.http.upstream_codec.v3: UpstreamCodec
extensions.filters.listener.dynamic_modules.v3: DynamicModuleListenerFilter
extensions.filters.listener.postgres_inspector.v3alpha: PostgresInspector StartupMetadata
extensions.filters.listener.set_filter_state.v3: Config
extensions.filters.network.client_ssl_auth.v3: ClientSSLAuth
extensions.filters.network.dubbo_proxy.router.v3: Router
extensions.filters.network.dubbo_proxy.v3: Drds DubboFilter DubboProxy MethodMatch MultipleRouteConfiguration
extensions.filters.network.dubbo_proxy.v3: Route RouteAction RouteConfiguration RouteMatch
extensions.filters.network.dynamic_modules.v3: DynamicModuleNetworkFilter
extensions.filters.network.ext_proc.v3: MetadataOptions NetworkExternalProcessor ProcessingMode
extensions.filters.network.generic_proxy.action.v3: RouteAction
extensions.filters.network.generic_proxy.codecs.dubbo.v3: DubboCodecConfig
extensions.filters.network.generic_proxy.codecs.http1.v3: Http1CodecConfig
extensions.filters.network.generic_proxy.codecs.kafka.v3: KafkaCodecConfig
extensions.filters.network.generic_proxy.matcher.v3: HostMatchInput KeyValueMatchEntry MethodMatchInput
extensions.filters.network.generic_proxy.matcher.v3: PathMatchInput PropertyMatchInput RequestMatchInput
extensions.filters.network.generic_proxy.matcher.v3: RequestMatcher ServiceMatchInput
extensions.filters.network.generic_proxy.router.v3: Router
extensions.filters.network.generic_proxy.v3: GenericProxy GenericRds RouteConfiguration VirtualHost
extensions.filters.network.geoip.v3: Geoip
extensions.filters.network.golang.v3alpha: Config
extensions.filters.network.http_connection_manager.v3: EnvoyMobileHttpConnectionManager ForwardProtoConfig
extensions.filters.network.kafka_broker.v3: IdBasedBrokerRewriteRule IdBasedBrokerRewriteSpec KafkaBroker
extensions.filters.network.kafka_mesh.v3alpha: ForwardingRule KafkaClusterDefinition KafkaMesh
extensions.filters.network.metadata_exchange.v3: MetadataExchange
extensions.filters.network.mysql_proxy.v3: MySQLProxy
extensions.filters.network.peer_metadata.v3: Config UpstreamConfig
extensions.filters.network.postgres_proxy.v3alpha: PostgresProxy
extensions.filters.network.redis_proxy.v3: AwsIam RedisExternalAuthProvider RedisProtocolOptions
extensions.filters.network.reverse_tunnel.v3: DrainAwareHttpConnectionManager ReverseTunnel Validation
extensions.filters.network.rocketmq_proxy.v3: RocketmqProxy Route RouteAction RouteConfiguration RouteMatch
extensions.filters.network.sip_proxy.router.v3alpha: Router
extensions.filters.network.sip_proxy.tra.v3alpha: CreateRequest CreateResponse DeleteRequest DeleteResponse
extensions.filters.network.sip_proxy.tra.v3alpha: RetrieveRequest RetrieveResponse SubscribeRequest
extensions.filters.network.sip_proxy.tra.v3alpha: SubscribeResponse TraServiceConfig TraServiceRequest
extensions.filters.network.sip_proxy.tra.v3alpha: TraServiceResponse UpdateRequest UpdateResponse
extensions.filters.network.sip_proxy.v3alpha: Cache CustomizedAffinity CustomizedAffinityEntry LocalService
extensions.filters.network.sip_proxy.v3alpha: Route RouteAction RouteConfiguration RouteMatch SipFilter
extensions.filters.network.sip_proxy.v3alpha: SipProtocolOptions SipProxy
extensions.filters.network.tcp_bandwidth_limit.v3: TcpBandwidthLimit
extensions.filters.network.thrift_proxy.filters.header_to_metadata.v3: HeaderToMetadata
extensions.filters.network.thrift_proxy.filters.payload_to_metadata.v3: PayloadToMetadata
extensions.filters.network.thrift_proxy.filters.ratelimit.v3: RateLimit
extensions.filters.network.thrift_proxy.router.v3: Router
extensions.filters.network.thrift_proxy.v3: Route RouteAction RouteConfiguration RouteMatch ThriftFilter
extensions.filters.network.thrift_proxy.v3: ThriftProtocolOptions ThriftProxy Trds WeightedCluster
extensions.filters.udp.dns_filter.v3: DnsFilterConfig
extensions.filters.udp.dynamic_modules.v3: DynamicModuleUdpListenerFilter
extensions.filters.udp.udp_proxy.session.dynamic_forward_proxy.v3: FilterConfig
extensions.filters.udp.udp_proxy.session.ext_authz.v3: FilterConfig
extensions.filters.udp.udp_proxy.session.http_capsule.v3: FilterConfig
extensions.filters.udp.udp_proxy.v3: Route
extensions.formatter.dynamic_modules.v3: DynamicModuleFormatter
extensions.formatter.file_content.v3: FileContent
extensions.formatter.generic_secret.v3: GenericSecret
extensions.geoip_providers.common.v3: CommonGeoipProviderConfig
extensions.geoip_providers.maxmind.v3: MaxMindConfig
extensions.grpc_service.call_credentials.access_token.v3: AccessTokenCredentials
extensions.grpc_service.call_credentials.file_based_metadata.v3: FileBasedMetadataCallCredentials
extensions.grpc_service.call_credentials.google_compute_engine.v3: GoogleComputeEngineCredentials
extensions.grpc_service.call_credentials.google_iam.v3: GoogleIamCredentials
extensions.grpc_service.call_credentials.google_refresh_token.v3: GoogleRefreshTokenCredentials
extensions.grpc_service.call_credentials.service_account_jwt_access.v3: ServiceAccountJwtAccessCredentials
extensions.grpc_service.call_credentials.sts_service.v3: StsServiceCredentials
extensions.grpc_service.channel_credentials.google_default.v3: GoogleDefaultCredentials
extensions.grpc_service.channel_credentials.insecure.v3: InsecureCredentials
extensions.grpc_service.channel_credentials.local.v3: LocalCredentials
extensions.grpc_service.channel_credentials.tls.v3: TlsCredentials
extensions.grpc_service.channel_credentials.xds.v3: XdsCredentials
extensions.health_check.event_sinks.file.v3: HealthCheckEventFileSink
extensions.health_checkers.dynamic_modules.v3: DynamicModuleHealthCheck
extensions.health_checkers.redis.v3: Redis
extensions.health_checkers.thrift.v3: Thrift
extensions.http.cache.file_system_http_cache.v3: FileSystemHttpCacheConfig
extensions.http.cache.simple_http_cache.v3: SimpleHttpCacheConfig
extensions.http.cache_v2.file_system_http_cache.v3: FileSystemHttpCacheV2Config
extensions.http.cache_v2.simple_http_cache.v3: SimpleHttpCacheV2Config
extensions.http.custom_response.local_response_policy.v3: LocalResponsePolicy
extensions.http.custom_response.redirect_policy.v3: RedirectPolicy
extensions.http.early_header_mutation.header_mutation.v3: HeaderMutation
extensions.http.ext_proc.processing_request_modifiers.mapped_attribute_builder.v3: MappedAttributeBuilder
extensions.http.ext_proc.response_processors.save_processing_response.v3: SaveProcessingResponse
extensions.http.header_validators.envoy_default.v3: HeaderValidatorConfig
extensions.http.injected_credentials.generic.v3: Generic
extensions.http.injected_credentials.oauth2.v3: OAuth2
extensions.http.original_ip_detection.custom_header.v3: CustomHeaderConfig
extensions.http.original_ip_detection.xff.v3: XffConfig XffTrustedCidrs
extensions.http.stateful_session.envelope.v3: EnvelopeSessionState
extensions.internal_redirect.allow_listed_routes.v3: AllowListedRoutesConfig
extensions.internal_redirect.filter_state.v3: FilterStateConfig
extensions.internal_redirect.safe_cross_scheme.v3: SafeCrossSchemeConfig
extensions.key_value.file_based.v3: FileBasedKeyValueStoreConfig
extensions.load_balancing_policies.cluster_provided.v3: ClusterProvided
extensions.load_balancing_policies.common.v3: OrcaOobReportingConfig
extensions.load_balancing_policies.dynamic_modules.v3: DynamicModulesLoadBalancerConfig
extensions.load_balancing_policies.load_aware_locality.v3: LoadAwareLocality
extensions.load_balancing_policies.override_host.v3: OverrideHost
extensions.load_balancing_policies.peak_ewma.v3alpha: PeakEwma
extensions.load_balancing_policies.pick_first.v3: PickFirst
extensions.load_balancing_policies.random_subsetting.v3: RandomSubsetting
extensions.load_balancing_policies.subset.v3: Subset
extensions.local_address_selectors.filter_state_override.v3: Config
extensions.matching.actions.transform_stat.v3: TransformStat
extensions.matching.common_inputs.environment_variable.v3: Config
extensions.matching.common_inputs.network.v3: ApplicationProtocolInput DestinationIPInput DirectSourceIPInput
extensions.matching.common_inputs.network.v3: DynamicMetadataInput FilterStateInput NetworkNamespaceInput
extensions.matching.common_inputs.network.v3: ServerNameInput SourceIPInput SourcePortInput SourceTypeInput
extensions.matching.common_inputs.network.v3: TransportProtocolInput
extensions.matching.common_inputs.ssl.v3: DnsSanInput SubjectInput UriSanInput
extensions.matching.common_inputs.stats.v3: StatFullNameMatchInput StatTagValueInput
extensions.matching.common_inputs.transport_socket.v3: EndpointMetadataInput FilterStateInput
extensions.matching.common_inputs.transport_socket.v3: LocalityMetadataInput TransportSocketNameAction
extensions.matching.http.dynamic_modules.v3: HttpDynamicModuleMatchInput
extensions.matching.input_matchers.consistent_hashing.v3: ConsistentHashing
extensions.matching.input_matchers.dynamic_modules.v3: DynamicModuleMatcher
extensions.matching.input_matchers.hyperscan.v3alpha: Hyperscan
extensions.matching.input_matchers.ip.v3: Ip
extensions.matching.input_matchers.metadata.v3: Metadata
extensions.matching.input_matchers.runtime_fraction.v3: RuntimeFraction
extensions.network.connection_balance.dlb.v3alpha: Dlb
extensions.network.dns_resolver.apple.v3: AppleDnsResolverConfig
extensions.network.dns_resolver.getaddrinfo.v3: GetAddrInfoDnsResolverConfig
extensions.network.dns_resolver.hickory.v3: DnsOverHttpsConfig DnsOverTlsConfig HickoryDnsResolverConfig
extensions.network.socket_interface.sockmap.v3: Sockmap
extensions.network.socket_interface.v3: DefaultSocketInterface IoUringOptions
extensions.outlier_detection_monitors.common.v3: DatabaseErrors ErrorBuckets HttpErrors LocalOriginErrors
extensions.outlier_detection_monitors.consecutive_errors.v3: ConsecutiveErrors
extensions.private_key_providers.cryptomb.v3alpha: CryptoMbPrivateKeyMethodConfig
extensions.private_key_providers.kae.v3alpha: KaePrivateKeyMethodConfig
extensions.private_key_providers.qat.v3alpha: QatPrivateKeyMethodConfig
extensions.queue_policy.fifo.v3: FifoQueuePolicyConfig
extensions.quic.client_writer_factory.v3: DefaultClientWriter
extensions.quic.connection_debug_visitor.quic_stats.v3: Config
extensions.quic.connection_debug_visitor.v3: BasicConfig
extensions.quic.connection_id_generator.quic_lb.v3: Config
extensions.quic.connection_id_generator.v3: DeterministicConnectionIdGeneratorConfig
extensions.quic.crypto_stream.v3: CryptoServerStreamConfig
extensions.quic.server_preferred_address.v3: DataSourceServerPreferredAddressConfig
extensions.quic.server_preferred_address.v3: FixedServerPreferredAddressConfig
extensions.rate_limit_descriptors.expr.v3: Descriptor
extensions.rate_limit_descriptors.jwt_claim.v3: Descriptor
extensions.rbac.matchers.upstream_ip_port.v3: UpstreamIpPortMatcher
extensions.rbac.principals.mtls_authenticated.v3: Config
extensions.regex_engines.hyperscan.v3alpha: Hyperscan
extensions.regex_engines.v3: GoogleRE2
extensions.resource_monitors.cgroup_memory.v3: CgroupMemoryConfig
extensions.resource_monitors.cpu_utilization.v3: CpuUtilizationConfig
extensions.resource_monitors.downstream_connections.v3: DownstreamConnectionsConfig
extensions.resource_monitors.fixed_heap.v3: FixedHeapConfig
extensions.resource_monitors.injected_resource.v3: InjectedResourceConfig
extensions.retry.host.omit_canary_hosts.v3: OmitCanaryHostsPredicate
extensions.retry.host.omit_host_metadata.v3: OmitHostMetadataConfig
extensions.reverse_tunnel_reporters.v3alpha.clients.grpc_client: GrpcClientConfig ReverseTunnel
extensions.reverse_tunnel_reporters.v3alpha.clients.grpc_client: StreamReverseTunnelsRequest
extensions.reverse_tunnel_reporters.v3alpha.clients.grpc_client: StreamReverseTunnelsResponse
extensions.reverse_tunnel_reporters.v3alpha.clients.grpc_client: TunnelInitiatorIdentity
extensions.reverse_tunnel_reporters.v3alpha.reporters: EventReporterConfig ReverseConnectionReporterClient
extensions.router.cluster_specifier.golang.v3alpha: Config
extensions.router.cluster_specifiers.lua.v3: LuaConfig
extensions.router.cluster_specifiers.matcher.v3: ClusterAction MatcherClusterSpecifier
extensions.stat_sinks.dynamic_modules.v3: DynamicModuleStatsSink
extensions.stat_sinks.graphite_statsd.v3: GraphiteStatsdSink
extensions.stat_sinks.kafka.v3: KafkaStatsSinkConfig
extensions.stat_sinks.open_telemetry.v3: SinkConfig
extensions.stat_sinks.wasm.v3: Wasm
extensions.stat_sinks.wasm_filter.v3: WasmFilterStatsSinkConfig
extensions.string_matcher.lua.v3: Lua
extensions.tap_sinks.udp_sink.v3alpha: UdpSink
extensions.tracers.dynamic_modules.v3: DynamicModuleTracer
extensions.tracers.fluentd.v3: FluentdConfig
extensions.tracers.opentelemetry.resource_detectors.v3: DynatraceResourceDetectorConfig
extensions.tracers.opentelemetry.resource_detectors.v3: StaticConfigResourceDetectorConfig
extensions.tracers.opentelemetry.samplers.v3: AlwaysOnSamplerConfig CELSamplerConfig DynatraceSamplerConfig
extensions.tracers.opentelemetry.samplers.v3: ParentBasedSamplerConfig TraceIdRatioBasedSamplerConfig
extensions.transport_sockets.alts.v3: Alts
extensions.transport_sockets.dynamic_modules.v3: DynamicModuleTransportSocket
extensions.transport_sockets.http_11_proxy.v3: Http11ProxyUpstreamTransport
extensions.transport_sockets.internal_upstream.v3: InternalUpstreamTransport
extensions.transport_sockets.quic.v3: QuicDownstreamTransport QuicUpstreamTransport
extensions.transport_sockets.s2a.v3: S2AConfiguration
extensions.transport_sockets.starttls.v3: StartTlsConfig UpstreamStartTlsConfig
extensions.transport_sockets.tap.v3: SocketTapConfig Tap
extensions.transport_sockets.tcp_stats.v3: Config
extensions.transport_sockets.tls.cert_mappers.filter_state_override.v3: Config
extensions.transport_sockets.tls.cert_mappers.sni.v3: SNI
extensions.transport_sockets.tls.cert_mappers.static_name.v3: StaticName
extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3: Config
extensions.transport_sockets.tls.cert_validator.dynamic_modules.v3: DynamicModuleCertValidatorConfig
extensions.transport_sockets.tls.v3: SPIFFECertValidatorConfig
extensions.udp_packet_writer.v3: UdpDefaultWriterFactory UdpGsoBatchWriterFactory
extensions.upstreams.http.dynamic_modules.v3: Config
extensions.upstreams.http.generic.v3: GenericConnectionPoolProto
extensions.upstreams.http.http.v3: HttpConnectionPoolProto
extensions.upstreams.http.reverse_tunnel.v3: ReverseTunnelUpstreamCodecOptions
extensions.upstreams.http.tcp.golang.v3alpha: Config
extensions.upstreams.http.tcp.v3: TcpConnectionPoolProto
extensions.upstreams.http.udp.v3: UdpConnectionPoolProto
extensions.upstreams.tcp.v3: TcpProtocolOptions
extensions.vcl.v3alpha: VclSocketInterface
extensions.wasm.v3: ReloadConfig WasmService
extensions.watchdog.backtrace_action.v3: BacktraceActionConfig
extensions.watchdog.profile_action.v3: ProfileActionConfig
`;
