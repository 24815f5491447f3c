import { file_envoy_config_bootstrap_v3_bootstrap } from "../../gen/envoy/config/bootstrap/v3/bootstrap_pb.ts";
import { file_envoy_config_cluster_v3_cluster } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { file_envoy_config_endpoint_v3_endpoint } from "../../gen/envoy/config/endpoint/v3/endpoint_pb.ts";
import { file_envoy_config_listener_v3_listener } from "../../gen/envoy/config/listener/v3/listener_pb.ts";
import { file_envoy_config_route_v3_route } from "../../gen/envoy/config/route/v3/route_pb.ts";
import { file_envoy_config_trace_v3_datadog } from "../../gen/envoy/config/trace/v3/datadog_pb.ts";
import { file_envoy_config_trace_v3_opentelemetry } from "../../gen/envoy/config/trace/v3/opentelemetry_pb.ts";
import { file_envoy_config_trace_v3_skywalking } from "../../gen/envoy/config/trace/v3/skywalking_pb.ts";
import { file_envoy_config_trace_v3_zipkin } from "../../gen/envoy/config/trace/v3/zipkin_pb.ts";
import { file_envoy_extensions_access_loggers_file_v3_file } from "../../gen/envoy/extensions/access_loggers/file/v3/file_pb.ts";
import { file_envoy_extensions_access_loggers_filters_cel_v3_cel } from "../../gen/envoy/extensions/access_loggers/filters/cel/v3/cel_pb.ts";
import { file_envoy_extensions_access_loggers_grpc_v3_als } from "../../gen/envoy/extensions/access_loggers/grpc/v3/als_pb.ts";
import { file_envoy_extensions_access_loggers_open_telemetry_v3_logs_service } from "../../gen/envoy/extensions/access_loggers/open_telemetry/v3/logs_service_pb.ts";
import { file_envoy_extensions_access_loggers_stream_v3_stream } from "../../gen/envoy/extensions/access_loggers/stream/v3/stream_pb.ts";
import { file_envoy_extensions_clusters_aggregate_v3_cluster } from "../../gen/envoy/extensions/clusters/aggregate/v3/cluster_pb.ts";
import { file_envoy_extensions_clusters_dynamic_forward_proxy_v3_cluster } from "../../gen/envoy/extensions/clusters/dynamic_forward_proxy/v3/cluster_pb.ts";
import { file_envoy_extensions_common_dynamic_forward_proxy_v3_dns_cache } from "../../gen/envoy/extensions/common/dynamic_forward_proxy/v3/dns_cache_pb.ts";
import { file_envoy_extensions_compression_brotli_compressor_v3_brotli } from "../../gen/envoy/extensions/compression/brotli/compressor/v3/brotli_pb.ts";
import { file_envoy_extensions_compression_brotli_decompressor_v3_brotli } from "../../gen/envoy/extensions/compression/brotli/decompressor/v3/brotli_pb.ts";
import { file_envoy_extensions_compression_gzip_compressor_v3_gzip } from "../../gen/envoy/extensions/compression/gzip/compressor/v3/gzip_pb.ts";
import { file_envoy_extensions_compression_gzip_decompressor_v3_gzip } from "../../gen/envoy/extensions/compression/gzip/decompressor/v3/gzip_pb.ts";
import { file_envoy_extensions_filters_http_adaptive_concurrency_v3_adaptive_concurrency } from "../../gen/envoy/extensions/filters/http/adaptive_concurrency/v3/adaptive_concurrency_pb.ts";
import { file_envoy_extensions_filters_http_admission_control_v3_admission_control } from "../../gen/envoy/extensions/filters/http/admission_control/v3/admission_control_pb.ts";
import { file_envoy_extensions_filters_http_bandwidth_limit_v3_bandwidth_limit } from "../../gen/envoy/extensions/filters/http/bandwidth_limit/v3/bandwidth_limit_pb.ts";
import { file_envoy_extensions_filters_http_basic_auth_v3_basic_auth } from "../../gen/envoy/extensions/filters/http/basic_auth/v3/basic_auth_pb.ts";
import { file_envoy_extensions_filters_http_buffer_v3_buffer } from "../../gen/envoy/extensions/filters/http/buffer/v3/buffer_pb.ts";
import { file_envoy_extensions_filters_http_cdn_loop_v3_cdn_loop } from "../../gen/envoy/extensions/filters/http/cdn_loop/v3/cdn_loop_pb.ts";
import { file_envoy_extensions_filters_http_composite_v3_composite } from "../../gen/envoy/extensions/filters/http/composite/v3/composite_pb.ts";
import { file_envoy_extensions_filters_http_compressor_v3_compressor } from "../../gen/envoy/extensions/filters/http/compressor/v3/compressor_pb.ts";
import { file_envoy_extensions_filters_http_cors_v3_cors } from "../../gen/envoy/extensions/filters/http/cors/v3/cors_pb.ts";
import { file_envoy_extensions_filters_http_csrf_v3_csrf } from "../../gen/envoy/extensions/filters/http/csrf/v3/csrf_pb.ts";
import { file_envoy_extensions_filters_http_decompressor_v3_decompressor } from "../../gen/envoy/extensions/filters/http/decompressor/v3/decompressor_pb.ts";
import { file_envoy_extensions_filters_http_dynamic_forward_proxy_v3_dynamic_forward_proxy } from "../../gen/envoy/extensions/filters/http/dynamic_forward_proxy/v3/dynamic_forward_proxy_pb.ts";
import { file_envoy_extensions_filters_http_ext_authz_v3_ext_authz } from "../../gen/envoy/extensions/filters/http/ext_authz/v3/ext_authz_pb.ts";
import { file_envoy_extensions_filters_http_ext_proc_v3_ext_proc } from "../../gen/envoy/extensions/filters/http/ext_proc/v3/ext_proc_pb.ts";
import { file_envoy_extensions_filters_http_fault_v3_fault } from "../../gen/envoy/extensions/filters/http/fault/v3/fault_pb.ts";
import { file_envoy_extensions_filters_http_grpc_http1_bridge_v3_config } from "../../gen/envoy/extensions/filters/http/grpc_http1_bridge/v3/config_pb.ts";
import { file_envoy_extensions_filters_http_grpc_http1_reverse_bridge_v3_config } from "../../gen/envoy/extensions/filters/http/grpc_http1_reverse_bridge/v3/config_pb.ts";
import { file_envoy_extensions_filters_http_grpc_json_transcoder_v3_transcoder } from "../../gen/envoy/extensions/filters/http/grpc_json_transcoder/v3/transcoder_pb.ts";
import { file_envoy_extensions_filters_http_grpc_stats_v3_config } from "../../gen/envoy/extensions/filters/http/grpc_stats/v3/config_pb.ts";
import { file_envoy_extensions_filters_http_grpc_web_v3_grpc_web } from "../../gen/envoy/extensions/filters/http/grpc_web/v3/grpc_web_pb.ts";
import { file_envoy_extensions_filters_http_header_mutation_v3_header_mutation } from "../../gen/envoy/extensions/filters/http/header_mutation/v3/header_mutation_pb.ts";
import { file_envoy_extensions_filters_http_header_to_metadata_v3_header_to_metadata } from "../../gen/envoy/extensions/filters/http/header_to_metadata/v3/header_to_metadata_pb.ts";
import { file_envoy_extensions_filters_http_health_check_v3_health_check } from "../../gen/envoy/extensions/filters/http/health_check/v3/health_check_pb.ts";
import { file_envoy_extensions_filters_http_ip_tagging_v3_ip_tagging } from "../../gen/envoy/extensions/filters/http/ip_tagging/v3/ip_tagging_pb.ts";
import { file_envoy_extensions_filters_http_json_to_metadata_v3_json_to_metadata } from "../../gen/envoy/extensions/filters/http/json_to_metadata/v3/json_to_metadata_pb.ts";
import { file_envoy_extensions_filters_http_jwt_authn_v3_config } from "../../gen/envoy/extensions/filters/http/jwt_authn/v3/config_pb.ts";
import { file_envoy_extensions_filters_http_kill_request_v3_kill_request } from "../../gen/envoy/extensions/filters/http/kill_request/v3/kill_request_pb.ts";
import { file_envoy_extensions_filters_http_local_ratelimit_v3_local_rate_limit } from "../../gen/envoy/extensions/filters/http/local_ratelimit/v3/local_rate_limit_pb.ts";
import { file_envoy_extensions_filters_http_lua_v3_lua } from "../../gen/envoy/extensions/filters/http/lua/v3/lua_pb.ts";
import { file_envoy_extensions_filters_http_oauth2_v3_oauth } from "../../gen/envoy/extensions/filters/http/oauth2/v3/oauth_pb.ts";
import { file_envoy_extensions_filters_http_on_demand_v3_on_demand } from "../../gen/envoy/extensions/filters/http/on_demand/v3/on_demand_pb.ts";
import { file_envoy_extensions_filters_http_original_src_v3_original_src } from "../../gen/envoy/extensions/filters/http/original_src/v3/original_src_pb.ts";
import { file_envoy_extensions_filters_http_ratelimit_v3_rate_limit } from "../../gen/envoy/extensions/filters/http/ratelimit/v3/rate_limit_pb.ts";
import { file_envoy_extensions_filters_http_rbac_v3_rbac } from "../../gen/envoy/extensions/filters/http/rbac/v3/rbac_pb.ts";
import { file_envoy_extensions_filters_http_router_v3_router } from "../../gen/envoy/extensions/filters/http/router/v3/router_pb.ts";
import { file_envoy_extensions_filters_http_set_filter_state_v3_set_filter_state } from "../../gen/envoy/extensions/filters/http/set_filter_state/v3/set_filter_state_pb.ts";
import { file_envoy_extensions_filters_http_set_metadata_v3_set_metadata } from "../../gen/envoy/extensions/filters/http/set_metadata/v3/set_metadata_pb.ts";
import { file_envoy_extensions_filters_http_stateful_session_v3_stateful_session } from "../../gen/envoy/extensions/filters/http/stateful_session/v3/stateful_session_pb.ts";
import { file_envoy_extensions_filters_http_wasm_v3_wasm } from "../../gen/envoy/extensions/filters/http/wasm/v3/wasm_pb.ts";
import { file_envoy_extensions_filters_listener_http_inspector_v3_http_inspector } from "../../gen/envoy/extensions/filters/listener/http_inspector/v3/http_inspector_pb.ts";
import { file_envoy_extensions_filters_listener_local_ratelimit_v3_local_ratelimit } from "../../gen/envoy/extensions/filters/listener/local_ratelimit/v3/local_ratelimit_pb.ts";
import { file_envoy_extensions_filters_listener_original_dst_v3_original_dst } from "../../gen/envoy/extensions/filters/listener/original_dst/v3/original_dst_pb.ts";
import { file_envoy_extensions_filters_listener_original_src_v3_original_src } from "../../gen/envoy/extensions/filters/listener/original_src/v3/original_src_pb.ts";
import { file_envoy_extensions_filters_listener_proxy_protocol_v3_proxy_protocol } from "../../gen/envoy/extensions/filters/listener/proxy_protocol/v3/proxy_protocol_pb.ts";
import { file_envoy_extensions_filters_listener_tls_inspector_v3_tls_inspector } from "../../gen/envoy/extensions/filters/listener/tls_inspector/v3/tls_inspector_pb.ts";
import { file_envoy_extensions_filters_network_connection_limit_v3_connection_limit } from "../../gen/envoy/extensions/filters/network/connection_limit/v3/connection_limit_pb.ts";
import { file_envoy_extensions_filters_network_direct_response_v3_config } from "../../gen/envoy/extensions/filters/network/direct_response/v3/config_pb.ts";
import { file_envoy_extensions_filters_network_echo_v3_echo } from "../../gen/envoy/extensions/filters/network/echo/v3/echo_pb.ts";
import { file_envoy_extensions_filters_network_ext_authz_v3_ext_authz } from "../../gen/envoy/extensions/filters/network/ext_authz/v3/ext_authz_pb.ts";
import { file_envoy_extensions_filters_network_http_connection_manager_v3_http_connection_manager } from "../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import { file_envoy_extensions_filters_network_local_ratelimit_v3_local_rate_limit } from "../../gen/envoy/extensions/filters/network/local_ratelimit/v3/local_rate_limit_pb.ts";
import { file_envoy_extensions_filters_network_mongo_proxy_v3_mongo_proxy } from "../../gen/envoy/extensions/filters/network/mongo_proxy/v3/mongo_proxy_pb.ts";
import { file_envoy_extensions_filters_network_ratelimit_v3_rate_limit } from "../../gen/envoy/extensions/filters/network/ratelimit/v3/rate_limit_pb.ts";
import { file_envoy_extensions_filters_network_rbac_v3_rbac } from "../../gen/envoy/extensions/filters/network/rbac/v3/rbac_pb.ts";
import { file_envoy_extensions_filters_network_redis_proxy_v3_redis_proxy } from "../../gen/envoy/extensions/filters/network/redis_proxy/v3/redis_proxy_pb.ts";
import { file_envoy_extensions_filters_network_set_filter_state_v3_set_filter_state } from "../../gen/envoy/extensions/filters/network/set_filter_state/v3/set_filter_state_pb.ts";
import { file_envoy_extensions_filters_network_sni_cluster_v3_sni_cluster } from "../../gen/envoy/extensions/filters/network/sni_cluster/v3/sni_cluster_pb.ts";
import { file_envoy_extensions_filters_network_sni_dynamic_forward_proxy_v3_sni_dynamic_forward_proxy } from "../../gen/envoy/extensions/filters/network/sni_dynamic_forward_proxy/v3/sni_dynamic_forward_proxy_pb.ts";
import { file_envoy_extensions_filters_network_tcp_proxy_v3_tcp_proxy } from "../../gen/envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy_pb.ts";
import { file_envoy_extensions_filters_network_wasm_v3_wasm } from "../../gen/envoy/extensions/filters/network/wasm/v3/wasm_pb.ts";
import { file_envoy_extensions_filters_network_zookeeper_proxy_v3_zookeeper_proxy } from "../../gen/envoy/extensions/filters/network/zookeeper_proxy/v3/zookeeper_proxy_pb.ts";
import { file_envoy_extensions_filters_udp_udp_proxy_v3_udp_proxy } from "../../gen/envoy/extensions/filters/udp/udp_proxy/v3/udp_proxy_pb.ts";
import { file_envoy_extensions_formatter_cel_v3_cel } from "../../gen/envoy/extensions/formatter/cel/v3/cel_pb.ts";
import { file_envoy_extensions_formatter_metadata_v3_metadata } from "../../gen/envoy/extensions/formatter/metadata/v3/metadata_pb.ts";
import { file_envoy_extensions_formatter_req_without_query_v3_req_without_query } from "../../gen/envoy/extensions/formatter/req_without_query/v3/req_without_query_pb.ts";
import { file_envoy_extensions_http_header_formatters_preserve_case_v3_preserve_case } from "../../gen/envoy/extensions/http/header_formatters/preserve_case/v3/preserve_case_pb.ts";
import { file_envoy_extensions_http_stateful_session_cookie_v3_cookie } from "../../gen/envoy/extensions/http/stateful_session/cookie/v3/cookie_pb.ts";
import { file_envoy_extensions_http_stateful_session_header_v3_header } from "../../gen/envoy/extensions/http/stateful_session/header/v3/header_pb.ts";
import { file_envoy_extensions_internal_redirect_previous_routes_v3_previous_routes_config } from "../../gen/envoy/extensions/internal_redirect/previous_routes/v3/previous_routes_config_pb.ts";
import { file_envoy_extensions_load_balancing_policies_client_side_weighted_round_robin_v3_client_side_weighted_round_robin } from "../../gen/envoy/extensions/load_balancing_policies/client_side_weighted_round_robin/v3/client_side_weighted_round_robin_pb.ts";
import { file_envoy_extensions_load_balancing_policies_least_request_v3_least_request } from "../../gen/envoy/extensions/load_balancing_policies/least_request/v3/least_request_pb.ts";
import { file_envoy_extensions_load_balancing_policies_maglev_v3_maglev } from "../../gen/envoy/extensions/load_balancing_policies/maglev/v3/maglev_pb.ts";
import { file_envoy_extensions_load_balancing_policies_random_v3_random } from "../../gen/envoy/extensions/load_balancing_policies/random/v3/random_pb.ts";
import { file_envoy_extensions_load_balancing_policies_ring_hash_v3_ring_hash } from "../../gen/envoy/extensions/load_balancing_policies/ring_hash/v3/ring_hash_pb.ts";
import { file_envoy_extensions_load_balancing_policies_round_robin_v3_round_robin } from "../../gen/envoy/extensions/load_balancing_policies/round_robin/v3/round_robin_pb.ts";
import { file_envoy_extensions_load_balancing_policies_wrr_locality_v3_wrr_locality } from "../../gen/envoy/extensions/load_balancing_policies/wrr_locality/v3/wrr_locality_pb.ts";
import { file_envoy_extensions_matching_common_inputs_network_v3_network_inputs } from "../../gen/envoy/extensions/matching/common_inputs/network/v3/network_inputs_pb.ts";
import { file_envoy_extensions_network_dns_resolver_cares_v3_cares_dns_resolver } from "../../gen/envoy/extensions/network/dns_resolver/cares/v3/cares_dns_resolver_pb.ts";
import { file_envoy_extensions_path_match_uri_template_v3_uri_template_match } from "../../gen/envoy/extensions/path/match/uri_template/v3/uri_template_match_pb.ts";
import { file_envoy_extensions_path_rewrite_uri_template_v3_uri_template_rewrite } from "../../gen/envoy/extensions/path/rewrite/uri_template/v3/uri_template_rewrite_pb.ts";
import { file_envoy_extensions_quic_proof_source_v3_proof_source } from "../../gen/envoy/extensions/quic/proof_source/v3/proof_source_pb.ts";
import { file_envoy_extensions_rbac_audit_loggers_stream_v3_stream } from "../../gen/envoy/extensions/rbac/audit_loggers/stream/v3/stream_pb.ts";
import { file_envoy_extensions_request_id_uuid_v3_uuid } from "../../gen/envoy/extensions/request_id/uuid/v3/uuid_pb.ts";
import { file_envoy_extensions_retry_host_previous_hosts_v3_previous_hosts } from "../../gen/envoy/extensions/retry/host/previous_hosts/v3/previous_hosts_pb.ts";
import { file_envoy_extensions_retry_priority_previous_priorities_v3_previous_priorities_config } from "../../gen/envoy/extensions/retry/priority/previous_priorities/v3/previous_priorities_config_pb.ts";
import { file_envoy_extensions_tracers_opentelemetry_resource_detectors_v3_environment_resource_detector } from "../../gen/envoy/extensions/tracers/opentelemetry/resource_detectors/v3/environment_resource_detector_pb.ts";
import { file_envoy_extensions_transport_sockets_proxy_protocol_v3_upstream_proxy_protocol } from "../../gen/envoy/extensions/transport_sockets/proxy_protocol/v3/upstream_proxy_protocol_pb.ts";
import { file_envoy_extensions_transport_sockets_raw_buffer_v3_raw_buffer } from "../../gen/envoy/extensions/transport_sockets/raw_buffer/v3/raw_buffer_pb.ts";
import { file_envoy_extensions_transport_sockets_tls_v3_secret } from "../../gen/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts";
import { file_envoy_extensions_transport_sockets_tls_v3_tls } from "../../gen/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts";
import { file_envoy_extensions_upstreams_http_v3_http_protocol_options } from "../../gen/envoy/extensions/upstreams/http/v3/http_protocol_options_pb.ts";
import { file_envoy_extensions_upstreams_tcp_generic_v3_generic_connection_pool } from "../../gen/envoy/extensions/upstreams/tcp/generic/v3/generic_connection_pool_pb.ts";
import { file_envoy_service_cluster_v3_cds } from "../../gen/envoy/service/cluster/v3/cds_pb.ts";
import { file_envoy_service_discovery_v3_ads } from "../../gen/envoy/service/discovery/v3/ads_pb.ts";
import { file_envoy_service_discovery_v3_discovery } from "../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import { file_envoy_service_endpoint_v3_eds } from "../../gen/envoy/service/endpoint/v3/eds_pb.ts";
import { file_envoy_service_extension_v3_config_discovery } from "../../gen/envoy/service/extension/v3/config_discovery_pb.ts";
import { file_envoy_service_listener_v3_lds } from "../../gen/envoy/service/listener/v3/lds_pb.ts";
import { file_envoy_service_route_v3_rds } from "../../gen/envoy/service/route/v3/rds_pb.ts";
import { file_envoy_service_secret_v3_sds } from "../../gen/envoy/service/secret/v3/sds_pb.ts";
import { file_istio_alpn_config } from "../../gen/istio/alpn/config_pb.ts";
import { file_istio_extensions_stats_config } from "../../gen/istio/extensions/stats/config_pb.ts";
import { file_udpa_type_v1_typed_struct } from "../../gen/udpa/type/v1/typed_struct_pb.ts";
import { file_xds_type_v3_typed_struct } from "../../gen/xds/type/v3/typed_struct_pb.ts";

/** The generated files that `buf.gen.yaml` names, one for each; what they import follows from them. */
export const descriptorFiles = [
  file_envoy_config_bootstrap_v3_bootstrap,
  file_envoy_config_cluster_v3_cluster,
  file_envoy_config_endpoint_v3_endpoint,
  file_envoy_config_listener_v3_listener,
  file_envoy_config_route_v3_route,
  file_envoy_config_trace_v3_datadog,
  file_envoy_config_trace_v3_opentelemetry,
  file_envoy_config_trace_v3_skywalking,
  file_envoy_config_trace_v3_zipkin,
  file_envoy_extensions_access_loggers_file_v3_file,
  file_envoy_extensions_access_loggers_filters_cel_v3_cel,
  file_envoy_extensions_access_loggers_grpc_v3_als,
  file_envoy_extensions_access_loggers_open_telemetry_v3_logs_service,
  file_envoy_extensions_access_loggers_stream_v3_stream,
  file_envoy_extensions_clusters_aggregate_v3_cluster,
  file_envoy_extensions_clusters_dynamic_forward_proxy_v3_cluster,
  file_envoy_extensions_common_dynamic_forward_proxy_v3_dns_cache,
  file_envoy_extensions_compression_brotli_compressor_v3_brotli,
  file_envoy_extensions_compression_brotli_decompressor_v3_brotli,
  file_envoy_extensions_compression_gzip_compressor_v3_gzip,
  file_envoy_extensions_compression_gzip_decompressor_v3_gzip,
  file_envoy_extensions_filters_http_adaptive_concurrency_v3_adaptive_concurrency,
  file_envoy_extensions_filters_http_admission_control_v3_admission_control,
  file_envoy_extensions_filters_http_bandwidth_limit_v3_bandwidth_limit,
  file_envoy_extensions_filters_http_basic_auth_v3_basic_auth,
  file_envoy_extensions_filters_http_buffer_v3_buffer,
  file_envoy_extensions_filters_http_cdn_loop_v3_cdn_loop,
  file_envoy_extensions_filters_http_composite_v3_composite,
  file_envoy_extensions_filters_http_compressor_v3_compressor,
  file_envoy_extensions_filters_http_cors_v3_cors,
  file_envoy_extensions_filters_http_csrf_v3_csrf,
  file_envoy_extensions_filters_http_decompressor_v3_decompressor,
  file_envoy_extensions_filters_http_dynamic_forward_proxy_v3_dynamic_forward_proxy,
  file_envoy_extensions_filters_http_ext_authz_v3_ext_authz,
  file_envoy_extensions_filters_http_ext_proc_v3_ext_proc,
  file_envoy_extensions_filters_http_fault_v3_fault,
  file_envoy_extensions_filters_http_grpc_http1_bridge_v3_config,
  file_envoy_extensions_filters_http_grpc_http1_reverse_bridge_v3_config,
  file_envoy_extensions_filters_http_grpc_json_transcoder_v3_transcoder,
  file_envoy_extensions_filters_http_grpc_stats_v3_config,
  file_envoy_extensions_filters_http_grpc_web_v3_grpc_web,
  file_envoy_extensions_filters_http_header_mutation_v3_header_mutation,
  file_envoy_extensions_filters_http_header_to_metadata_v3_header_to_metadata,
  file_envoy_extensions_filters_http_health_check_v3_health_check,
  file_envoy_extensions_filters_http_ip_tagging_v3_ip_tagging,
  file_envoy_extensions_filters_http_json_to_metadata_v3_json_to_metadata,
  file_envoy_extensions_filters_http_jwt_authn_v3_config,
  file_envoy_extensions_filters_http_kill_request_v3_kill_request,
  file_envoy_extensions_filters_http_local_ratelimit_v3_local_rate_limit,
  file_envoy_extensions_filters_http_lua_v3_lua,
  file_envoy_extensions_filters_http_oauth2_v3_oauth,
  file_envoy_extensions_filters_http_on_demand_v3_on_demand,
  file_envoy_extensions_filters_http_original_src_v3_original_src,
  file_envoy_extensions_filters_http_ratelimit_v3_rate_limit,
  file_envoy_extensions_filters_http_rbac_v3_rbac,
  file_envoy_extensions_filters_http_router_v3_router,
  file_envoy_extensions_filters_http_set_filter_state_v3_set_filter_state,
  file_envoy_extensions_filters_http_set_metadata_v3_set_metadata,
  file_envoy_extensions_filters_http_stateful_session_v3_stateful_session,
  file_envoy_extensions_filters_http_wasm_v3_wasm,
  file_envoy_extensions_filters_listener_http_inspector_v3_http_inspector,
  file_envoy_extensions_filters_listener_local_ratelimit_v3_local_ratelimit,
  file_envoy_extensions_filters_listener_original_dst_v3_original_dst,
  file_envoy_extensions_filters_listener_original_src_v3_original_src,
  file_envoy_extensions_filters_listener_proxy_protocol_v3_proxy_protocol,
  file_envoy_extensions_filters_listener_tls_inspector_v3_tls_inspector,
  file_envoy_extensions_filters_network_connection_limit_v3_connection_limit,
  file_envoy_extensions_filters_network_direct_response_v3_config,
  file_envoy_extensions_filters_network_echo_v3_echo,
  file_envoy_extensions_filters_network_ext_authz_v3_ext_authz,
  file_envoy_extensions_filters_network_http_connection_manager_v3_http_connection_manager,
  file_envoy_extensions_filters_network_local_ratelimit_v3_local_rate_limit,
  file_envoy_extensions_filters_network_mongo_proxy_v3_mongo_proxy,
  file_envoy_extensions_filters_network_ratelimit_v3_rate_limit,
  file_envoy_extensions_filters_network_rbac_v3_rbac,
  file_envoy_extensions_filters_network_redis_proxy_v3_redis_proxy,
  file_envoy_extensions_filters_network_set_filter_state_v3_set_filter_state,
  file_envoy_extensions_filters_network_sni_cluster_v3_sni_cluster,
  file_envoy_extensions_filters_network_sni_dynamic_forward_proxy_v3_sni_dynamic_forward_proxy,
  file_envoy_extensions_filters_network_tcp_proxy_v3_tcp_proxy,
  file_envoy_extensions_filters_network_wasm_v3_wasm,
  file_envoy_extensions_filters_network_zookeeper_proxy_v3_zookeeper_proxy,
  file_envoy_extensions_filters_udp_udp_proxy_v3_udp_proxy,
  file_envoy_extensions_formatter_cel_v3_cel,
  file_envoy_extensions_formatter_metadata_v3_metadata,
  file_envoy_extensions_formatter_req_without_query_v3_req_without_query,
  file_envoy_extensions_http_header_formatters_preserve_case_v3_preserve_case,
  file_envoy_extensions_http_stateful_session_cookie_v3_cookie,
  file_envoy_extensions_http_stateful_session_header_v3_header,
  file_envoy_extensions_internal_redirect_previous_routes_v3_previous_routes_config,
  file_envoy_extensions_load_balancing_policies_client_side_weighted_round_robin_v3_client_side_weighted_round_robin,
  file_envoy_extensions_load_balancing_policies_least_request_v3_least_request,
  file_envoy_extensions_load_balancing_policies_maglev_v3_maglev,
  file_envoy_extensions_load_balancing_policies_random_v3_random,
  file_envoy_extensions_load_balancing_policies_ring_hash_v3_ring_hash,
  file_envoy_extensions_load_balancing_policies_round_robin_v3_round_robin,
  file_envoy_extensions_load_balancing_policies_wrr_locality_v3_wrr_locality,
  file_envoy_extensions_matching_common_inputs_network_v3_network_inputs,
  file_envoy_extensions_network_dns_resolver_cares_v3_cares_dns_resolver,
  file_envoy_extensions_path_match_uri_template_v3_uri_template_match,
  file_envoy_extensions_path_rewrite_uri_template_v3_uri_template_rewrite,
  file_envoy_extensions_quic_proof_source_v3_proof_source,
  file_envoy_extensions_rbac_audit_loggers_stream_v3_stream,
  file_envoy_extensions_request_id_uuid_v3_uuid,
  file_envoy_extensions_retry_host_previous_hosts_v3_previous_hosts,
  file_envoy_extensions_retry_priority_previous_priorities_v3_previous_priorities_config,
  file_envoy_extensions_tracers_opentelemetry_resource_detectors_v3_environment_resource_detector,
  file_envoy_extensions_transport_sockets_proxy_protocol_v3_upstream_proxy_protocol,
  file_envoy_extensions_transport_sockets_raw_buffer_v3_raw_buffer,
  file_envoy_extensions_transport_sockets_tls_v3_secret,
  file_envoy_extensions_transport_sockets_tls_v3_tls,
  file_envoy_extensions_upstreams_http_v3_http_protocol_options,
  file_envoy_extensions_upstreams_tcp_generic_v3_generic_connection_pool,
  file_envoy_service_cluster_v3_cds,
  file_envoy_service_discovery_v3_ads,
  file_envoy_service_discovery_v3_discovery,
  file_envoy_service_endpoint_v3_eds,
  file_envoy_service_extension_v3_config_discovery,
  file_envoy_service_listener_v3_lds,
  file_envoy_service_route_v3_rds,
  file_envoy_service_secret_v3_sds,
  file_istio_alpn_config,
  file_istio_extensions_stats_config,
  file_udpa_type_v1_typed_struct,
  file_xds_type_v3_typed_struct,
] as const;
