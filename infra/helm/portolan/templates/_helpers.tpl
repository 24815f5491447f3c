{{/* The release's name: `portolan` alone where it is called so. */}}
{{- define "portolan.name" -}}
{{- if contains "portolan" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-portolan" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* What pods and Services are found by. Call with (dict "root" $ "component" "front"). */}}
{{- define "portolan.selector" -}}
app.kubernetes.io/name: {{ include "portolan.name" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Labels of every object that says which chart made it. */}}
{{- define "portolan.chartLabels" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "portolan.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Where pods run, and as whom: the same for both Deployments. */}}
{{- define "portolan.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "portolan.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* Where pods may run, and what their images are pulled with. */}}
{{- define "portolan.scheduling" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "portolan.env" -}}
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{/* The settings of fronts: what the chart decides counts more than `front.settings`. */}}
{{- define "portolan.frontSettings" -}}
{{- $own := dict "host" "0.0.0.0" "port" 8080 "grpcPort" 18000
  "authentication" "@/etc/portolan-secret/authentication.json"
  "compileUrl" (printf "http://%s-compile.%s.svc:8082" (include "portolan.name" .) .Release.Namespace)
  "compileSecret" "@/etc/portolan-secret/front-secret" }}
{{- $all := dict "store" .Values.store }}
{{- if .Values.ca.enabled }}
{{- $own = merge $own (dict "tlsPort" 15012 "ca" "on" "tlsNames" (include "portolan.tlsNames" . | fromYamlArray)) }}
{{- $all = merge $all (dict "secretsKey" "@/etc/portolan-secret/secrets-key") }}
{{- end }}
{{- $front := mergeOverwrite (dict "confirmations" "store") (deepCopy .Values.front.settings) $own }}
{{- toYaml (merge $all (dict "front" $front)) }}
{{- end }}

{{/* A name of Istio's charts in the revision: the usual one has no suffix. Call with (dict "root" $ "name" "istiod"). */}}
{{- define "portolan.inRevision" -}}
{{- .name }}{{ if ne .root.Values.revision "default" }}-{{ .root.Values.revision }}{{ end }}
{{- end }}

{{/* The three names of a Service. Call with (dict "root" $ "service" "NAME.NAMESPACE"). */}}
{{- define "portolan.serviceNames" -}}
- {{ .service }}.svc
- {{ .service }}
- {{ .service }}.svc.{{ .root.Values.clusterDomain }}
{{- end }}

{{/* The names by which Istio's agents reach their control plane, and the front's own. */}}
{{- define "portolan.tlsNames" -}}
{{ include "portolan.serviceNames" (dict "root" . "service" (printf "istiod.%s" .Values.istioNamespace)) }}
{{- if ne .Values.revision "default" }}
{{ include "portolan.serviceNames" (dict "root" . "service" (printf "istiod-%s.%s" .Values.revision .Values.istioNamespace)) }}
{{- end }}
{{ include "portolan.serviceNames" (dict "root" . "service" (printf "%s.%s" (include "portolan.name" .) .Release.Namespace)) }}
{{- end }}

{{/* The settings of the webhooks. */}}
{{- define "portolan.admissionSettings" -}}
{{- $webhooks := list (printf "validating/%s" (include "portolan.inRevision" (dict "root" . "name" "portolan-validator"))) }}
{{- $names := include "portolan.serviceNames" (dict "root" . "service" (printf "%s-admission.%s" (include "portolan.name" .) .Release.Namespace)) | fromYamlArray }}
{{- $own := dict "host" "0.0.0.0" "port" 8443 "tlsNames" $names }}
{{- if .Values.injection.enabled }}
{{- $webhooks = append $webhooks (printf "mutating/%s" (include "portolan.inRevision" (dict "root" . "name" "portolan-sidecar-injector"))) }}
{{- range .Values.injection.tags }}
{{- $webhooks = append $webhooks (printf "mutating/portolan-revision-tag-%s" .) }}
{{- end }}
{{- $values := deepCopy .Values.injection.values }}
{{- if ne .Values.revision "default" }}{{ $values = mergeOverwrite $values (dict "revision" .Values.revision) }}{{ end }}
{{- if ne .Values.istioNamespace "istio-system" }}{{ $values = mergeOverwrite $values (dict "global" (dict "istioNamespace" .Values.istioNamespace)) }}{{ end }}
{{- $own = merge $own (dict "injection" $values) }}
{{- end }}
{{- $admission := mergeOverwrite (deepCopy .Values.admission.settings) $own (dict "webhooks" $webhooks "rootCert" true) }}
{{- toYaml (dict "store" .Values.store "secretsKey" "@/etc/portolan-secret/secrets-key" "admission" $admission "health" (dict "host" "0.0.0.0" "port" 8081)) }}
{{- end }}

{{/* The settings of what compiles. */}}
{{- define "portolan.compileSettings" -}}
{{- $webhook := dict "host" "0.0.0.0" "port" 8082 "secret" "@/etc/portolan-secret/webhook-secret" "frontSecret" "@/etc/portolan-secret/front-secret" }}
{{- $compile := mergeOverwrite (dict "binaryForms" true) (deepCopy .Values.compile.settings) (dict "webhook" $webhook) }}
{{- toYaml (dict "store" .Values.store "compile" $compile "collectors" .Values.compile.collectors "health" (dict "host" "0.0.0.0" "port" 8081)) }}
{{- end }}

{{/* The ports of istiod, as the front has them. */}}
{{- define "portolan.istiodPorts" -}}
- name: grpc-xds
  port: 15010
  targetPort: grpc
- name: https-dns
  port: 15012
  targetPort: tls
- name: http-monitoring
  port: 15014
  targetPort: http
{{- end }}

{{/* What is wrong with values that exclude each other. */}}
{{- define "portolan.check" -}}
{{- if and .Values.admission.enabled (not .Values.ca.enabled) }}{{ fail "admission.enabled needs ca.enabled: the CA makes the webhooks' certificate" }}{{ end }}
{{- if and .Values.injection.enabled (not .Values.admission.enabled) }}{{ fail "injection.enabled needs admission.enabled: one server answers both webhooks" }}{{ end }}
{{- if and .Values.istiodService.enabled (not .Values.ca.enabled) }}{{ fail "istiodService.enabled needs ca.enabled: agents expect TLS there" }}{{ end }}
{{- end }}
