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
{{- $front := mergeOverwrite (dict "confirmations" "store") (deepCopy .Values.front.settings) $own }}
{{- toYaml (dict "store" .Values.store "front" $front) }}
{{- end }}

{{/* The settings of what compiles. */}}
{{- define "portolan.compileSettings" -}}
{{- $webhook := dict "host" "0.0.0.0" "port" 8082 "secret" "@/etc/portolan-secret/webhook-secret" "frontSecret" "@/etc/portolan-secret/front-secret" }}
{{- $compile := mergeOverwrite (dict "binaryForms" true) (deepCopy .Values.compile.settings) (dict "webhook" $webhook) }}
{{- toYaml (dict "store" .Values.store "compile" $compile "collectors" .Values.compile.collectors "health" (dict "host" "0.0.0.0" "port" 8081)) }}
{{- end }}
