/**
 * The fields of Kubernetes' kinds in release 1.36, one type a line: `[]` is a list, `{}` a map by text.
 * Written by scripts/kubernetes-fields.mjs.
 */
export const kubernetesFields = `
AWSElasticBlockStoreVolumeSource: fsType text, partition int, readOnly flag, volumeID text
AdmissionregistrationV1ServiceReference: name text, namespace text, path text, port int
AdmissionregistrationV1WebhookClientConfig: caBundle text, service AdmissionregistrationV1ServiceReference, url text
Affinity: nodeAffinity NodeAffinity, podAffinity PodAffinity, podAntiAffinity PodAntiAffinity
AggregationRule: clusterRoleSelectors LabelSelector[]
AppArmorProfile: localhostProfile text, type text
AttachedVolume: devicePath text, name text
AzureDiskVolumeSource: cachingMode text, diskName text, diskURI text, fsType text, kind text, readOnly flag
AzureFilePersistentVolumeSource: readOnly flag, secretName text, secretNamespace text, shareName text
AzureFileVolumeSource: readOnly flag, secretName text, shareName text
CSIPersistentVolumeSource: controllerExpandSecretRef SecretReference, controllerPublishSecretRef SecretReference, driver text, fsType text, nodeExpandSecretRef SecretReference, nodePublishSecretRef SecretReference, nodeStageSecretRef SecretReference, readOnly flag, volumeAttributes text{}, volumeHandle text
CSIVolumeSource: driver text, fsType text, nodePublishSecretRef LocalObjectReference, readOnly flag, volumeAttributes text{}
Capabilities: add text[], drop text[]
CephFSPersistentVolumeSource: monitors text[], path text, readOnly flag, secretFile text, secretRef SecretReference, user text
CephFSVolumeSource: monitors text[], path text, readOnly flag, secretFile text, secretRef LocalObjectReference, user text
CinderPersistentVolumeSource: fsType text, readOnly flag, secretRef SecretReference, volumeID text
CinderVolumeSource: fsType text, readOnly flag, secretRef LocalObjectReference, volumeID text
ClientIPConfig: timeoutSeconds int
ClusterRole: aggregationRule AggregationRule, apiVersion text, kind text, metadata ObjectMeta, rules PolicyRule[]
ClusterRoleBinding: apiVersion text, kind text, metadata ObjectMeta, roleRef RoleRef, subjects RbacV1Subject[]
ClusterTrustBundleProjection: labelSelector LabelSelector, name text, optional flag, path text, signerName text
Condition: lastTransitionTime text, message text, observedGeneration int, reason text, status text, type text
ConfigMap: apiVersion text, binaryData text{}, data text{}, immutable flag, kind text, metadata ObjectMeta
ConfigMapEnvSource: name text, optional flag
ConfigMapKeySelector: key text, name text, optional flag
ConfigMapNodeConfigSource: kubeletConfigKey text, name text, namespace text, resourceVersion text, uid text
ConfigMapProjection: items KeyToPath[], name text, optional flag
ConfigMapVolumeSource: defaultMode int, items KeyToPath[], name text, optional flag
Container: args text[], command text[], env EnvVar[], envFrom EnvFromSource[], image text, imagePullPolicy text, lifecycle Lifecycle, livenessProbe Probe, name text, ports ContainerPort[], readinessProbe Probe, resizePolicy ContainerResizePolicy[], resources ResourceRequirements, restartPolicy text, restartPolicyRules ContainerRestartRule[], securityContext SecurityContext, startupProbe Probe, stdin flag, stdinOnce flag, terminationMessagePath text, terminationMessagePolicy text, tty flag, volumeDevices VolumeDevice[], volumeMounts VolumeMount[], workingDir text
ContainerExtendedResourceRequest: containerName text, requestName text, resourceName text
ContainerImage: names text[], sizeBytes int
ContainerPort: containerPort int, hostIP text, hostPort int, name text, protocol text
ContainerResizePolicy: resourceName text, restartPolicy text
ContainerResourceMetricSource: container text, name text, target MetricTarget
ContainerResourceMetricStatus: container text, current MetricValueStatus, name text
ContainerRestartRule: action text, exitCodes ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: operator text, values int[]
ContainerState: running ContainerStateRunning, terminated ContainerStateTerminated, waiting ContainerStateWaiting
ContainerStateRunning: startedAt text
ContainerStateTerminated: containerID text, exitCode int, finishedAt text, message text, reason text, signal int, startedAt text
ContainerStateWaiting: message text, reason text
ContainerStatus: allocatedResources quantity{}, allocatedResourcesStatus ResourceStatus[], containerID text, image text, imageID text, lastState ContainerState, name text, ready flag, resources ResourceRequirements, restartCount int, started flag, state ContainerState, stopSignal text, user ContainerUser, volumeMounts VolumeMountStatus[]
ContainerUser: linux LinuxContainerUser
CoreV1EndpointPort: appProtocol text, name text, port int, protocol text
CoreV1ResourceClaim: name text, request text
CronJob: apiVersion text, kind text, metadata ObjectMeta, spec CronJobSpec, status CronJobStatus
CronJobSpec: concurrencyPolicy text, failedJobsHistoryLimit int, jobTemplate JobTemplateSpec, schedule text, startingDeadlineSeconds int, successfulJobsHistoryLimit int, suspend flag, timeZone text
CronJobStatus: active ObjectReference[], lastScheduleTime text, lastSuccessfulTime text
CrossVersionObjectReference: apiVersion text, kind text, name text
DaemonEndpoint: Port int
DaemonSet: apiVersion text, kind text, metadata ObjectMeta, spec DaemonSetSpec, status DaemonSetStatus
DaemonSetCondition: lastTransitionTime text, message text, reason text, status text, type text
DaemonSetSpec: minReadySeconds int, revisionHistoryLimit int, selector LabelSelector, template PodTemplateSpec, updateStrategy DaemonSetUpdateStrategy
DaemonSetStatus: collisionCount int, conditions DaemonSetCondition[], currentNumberScheduled int, desiredNumberScheduled int, numberAvailable int, numberMisscheduled int, numberReady int, numberUnavailable int, observedGeneration int, updatedNumberScheduled int
DaemonSetUpdateStrategy: rollingUpdate RollingUpdateDaemonSet, type text
Deployment: apiVersion text, kind text, metadata ObjectMeta, spec DeploymentSpec, status DeploymentStatus
DeploymentCondition: lastTransitionTime text, lastUpdateTime text, message text, reason text, status text, type text
DeploymentSpec: minReadySeconds int, paused flag, progressDeadlineSeconds int, replicas int, revisionHistoryLimit int, selector LabelSelector, strategy DeploymentStrategy, template PodTemplateSpec
DeploymentStatus: availableReplicas int, collisionCount int, conditions DeploymentCondition[], observedGeneration int, readyReplicas int, replicas int, terminatingReplicas int, unavailableReplicas int, updatedReplicas int
DeploymentStrategy: rollingUpdate RollingUpdateDeployment, type text
DiscoveryV1EndpointPort: appProtocol text, name text, port int, protocol text
DownwardAPIProjection: items DownwardAPIVolumeFile[]
DownwardAPIVolumeFile: fieldRef ObjectFieldSelector, mode int, path text, resourceFieldRef ResourceFieldSelector
DownwardAPIVolumeSource: defaultMode int, items DownwardAPIVolumeFile[]
EmptyDirVolumeSource: medium text, sizeLimit quantity
Endpoint: addresses text[], conditions EndpointConditions, deprecatedTopology text{}, hints EndpointHints, hostname text, nodeName text, targetRef ObjectReference, zone text
EndpointAddress: hostname text, ip text, nodeName text, targetRef ObjectReference
EndpointConditions: ready flag, serving flag, terminating flag
EndpointHints: forNodes ForNode[], forZones ForZone[]
EndpointSlice: addressType text, apiVersion text, endpoints Endpoint[], kind text, metadata ObjectMeta, ports DiscoveryV1EndpointPort[]
EndpointSubset: addresses EndpointAddress[], notReadyAddresses EndpointAddress[], ports CoreV1EndpointPort[]
Endpoints: apiVersion text, kind text, metadata ObjectMeta, subsets EndpointSubset[]
EnvFromSource: configMapRef ConfigMapEnvSource, prefix text, secretRef SecretEnvSource
EnvVar: name text, value text, valueFrom EnvVarSource
EnvVarSource: configMapKeyRef ConfigMapKeySelector, fieldRef ObjectFieldSelector, fileKeyRef FileKeySelector, resourceFieldRef ResourceFieldSelector, secretKeyRef SecretKeySelector
EphemeralContainer: args text[], command text[], env EnvVar[], envFrom EnvFromSource[], image text, imagePullPolicy text, lifecycle Lifecycle, livenessProbe Probe, name text, ports ContainerPort[], readinessProbe Probe, resizePolicy ContainerResizePolicy[], resources ResourceRequirements, restartPolicy text, restartPolicyRules ContainerRestartRule[], securityContext SecurityContext, startupProbe Probe, stdin flag, stdinOnce flag, targetContainerName text, terminationMessagePath text, terminationMessagePolicy text, tty flag, volumeDevices VolumeDevice[], volumeMounts VolumeMount[], workingDir text
EphemeralVolumeSource: volumeClaimTemplate PersistentVolumeClaimTemplate
ExecAction: command text[]
ExternalMetricSource: metric MetricIdentifier, target MetricTarget
ExternalMetricStatus: current MetricValueStatus, metric MetricIdentifier
FCVolumeSource: fsType text, lun int, readOnly flag, targetWWNs text[], wwids text[]
FileKeySelector: key text, optional flag, path text, volumeName text
FlexPersistentVolumeSource: driver text, fsType text, options text{}, readOnly flag, secretRef SecretReference
FlexVolumeSource: driver text, fsType text, options text{}, readOnly flag, secretRef LocalObjectReference
FlockerVolumeSource: datasetName text, datasetUUID text
ForNode: name text
ForZone: name text
GCEPersistentDiskVolumeSource: fsType text, partition int, pdName text, readOnly flag
GRPCAction: port int, service text
GitRepoVolumeSource: directory text, repository text, revision text
GlusterfsPersistentVolumeSource: endpoints text, endpointsNamespace text, path text, readOnly flag
GlusterfsVolumeSource: endpoints text, path text, readOnly flag
HPAScalingPolicy: periodSeconds int, type text, value int
HPAScalingRules: policies HPAScalingPolicy[], selectPolicy text, stabilizationWindowSeconds int, tolerance text
HTTPGetAction: host text, httpHeaders HTTPHeader[], path text, port intOrText, scheme text
HTTPHeader: name text, value text
HTTPIngressPath: backend IngressBackend, path text, pathType text
HTTPIngressRuleValue: paths HTTPIngressPath[]
HorizontalPodAutoscaler: apiVersion text, kind text, metadata ObjectMeta, spec HorizontalPodAutoscalerSpec, status HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerBehavior: scaleDown HPAScalingRules, scaleUp HPAScalingRules
HorizontalPodAutoscalerCondition: lastTransitionTime text, message text, reason text, status text, type text
HorizontalPodAutoscalerSpec: behavior HorizontalPodAutoscalerBehavior, maxReplicas int, metrics MetricSpec[], minReplicas int, scaleTargetRef CrossVersionObjectReference
HorizontalPodAutoscalerStatus: conditions HorizontalPodAutoscalerCondition[], currentMetrics MetricStatus[], currentReplicas int, desiredReplicas int, lastScaleTime text, observedGeneration int
HostAlias: hostnames text[], ip text
HostIP: ip text
HostPathVolumeSource: path text, type text
IPBlock: cidr text, except text[]
ISCSIPersistentVolumeSource: chapAuthDiscovery flag, chapAuthSession flag, fsType text, initiatorName text, iqn text, iscsiInterface text, lun int, portals text[], readOnly flag, secretRef SecretReference, targetPortal text
ISCSIVolumeSource: chapAuthDiscovery flag, chapAuthSession flag, fsType text, initiatorName text, iqn text, iscsiInterface text, lun int, portals text[], readOnly flag, secretRef LocalObjectReference, targetPortal text
ImageVolumeSource: pullPolicy text, reference text
ImageVolumeStatus: imageRef text
Ingress: apiVersion text, kind text, metadata ObjectMeta, spec IngressSpec, status IngressStatus
IngressBackend: resource TypedLocalObjectReference, service IngressServiceBackend
IngressClass: apiVersion text, kind text, metadata ObjectMeta, spec IngressClassSpec
IngressClassParametersReference: apiGroup text, kind text, name text, namespace text, scope text
IngressClassSpec: controller text, parameters IngressClassParametersReference
IngressLoadBalancerIngress: hostname text, ip text, ports IngressPortStatus[]
IngressLoadBalancerStatus: ingress IngressLoadBalancerIngress[]
IngressPortStatus: error text, port int, protocol text
IngressRule: host text, http HTTPIngressRuleValue
IngressServiceBackend: name text, port ServiceBackendPort
IngressSpec: defaultBackend IngressBackend, ingressClassName text, rules IngressRule[], tls IngressTLS[]
IngressStatus: loadBalancer IngressLoadBalancerStatus
IngressTLS: hosts text[], secretName text
Job: apiVersion text, kind text, metadata ObjectMeta, spec JobSpec, status JobStatus
JobCondition: lastProbeTime text, lastTransitionTime text, message text, reason text, status text, type text
JobSpec: activeDeadlineSeconds int, backoffLimit int, backoffLimitPerIndex int, completionMode text, completions int, managedBy text, manualSelector flag, maxFailedIndexes int, parallelism int, podFailurePolicy PodFailurePolicy, podReplacementPolicy text, selector LabelSelector, successPolicy SuccessPolicy, suspend flag, template PodTemplateSpec, ttlSecondsAfterFinished int
JobStatus: active int, completedIndexes text, completionTime text, conditions JobCondition[], failed int, failedIndexes text, ready int, startTime text, succeeded int, terminating int, uncountedTerminatedPods UncountedTerminatedPods
JobTemplateSpec: metadata ObjectMeta, spec JobSpec
KeyToPath: key text, mode int, path text
LabelSelector: matchExpressions LabelSelectorRequirement[], matchLabels text{}
LabelSelectorRequirement: key text, operator text, values text[]
Lease: apiVersion text, kind text, metadata ObjectMeta, spec LeaseSpec
LeaseSpec: acquireTime text, holderIdentity text, leaseDurationSeconds int, leaseTransitions int, preferredHolder text, renewTime text, strategy text
Lifecycle: postStart LifecycleHandler, preStop LifecycleHandler, stopSignal text
LifecycleHandler: exec ExecAction, httpGet HTTPGetAction, sleep SleepAction, tcpSocket TCPSocketAction
LinuxContainerUser: gid int, supplementalGroups int[], uid int
LoadBalancerIngress: hostname text, ip text, ipMode text, ports PortStatus[]
LoadBalancerStatus: ingress LoadBalancerIngress[]
LocalObjectReference: name text
LocalVolumeSource: fsType text, path text
ManagedFieldsEntry: apiVersion text, fieldsType text, fieldsV1 any, manager text, operation text, subresource text, time text
MatchCondition: expression text, name text
MetricIdentifier: name text, selector LabelSelector
MetricSpec: containerResource ContainerResourceMetricSource, external ExternalMetricSource, object ObjectMetricSource, pods PodsMetricSource, resource ResourceMetricSource, type text
MetricStatus: containerResource ContainerResourceMetricStatus, external ExternalMetricStatus, object ObjectMetricStatus, pods PodsMetricStatus, resource ResourceMetricStatus, type text
MetricTarget: averageUtilization int, averageValue quantity, type text, value quantity
MetricValueStatus: averageUtilization int, averageValue quantity, value text
ModifyVolumeStatus: status text, targetVolumeAttributesClassName text
MutatingWebhook: admissionReviewVersions text[], clientConfig AdmissionregistrationV1WebhookClientConfig, failurePolicy text, matchConditions MatchCondition[], matchPolicy text, name text, namespaceSelector LabelSelector, objectSelector LabelSelector, reinvocationPolicy text, rules RuleWithOperations[], sideEffects text, timeoutSeconds int
MutatingWebhookConfiguration: apiVersion text, kind text, metadata ObjectMeta, webhooks MutatingWebhook[]
NFSVolumeSource: path text, readOnly flag, server text
Namespace: apiVersion text, kind text, metadata ObjectMeta, spec NamespaceSpec, status NamespaceStatus
NamespaceCondition: lastTransitionTime text, message text, reason text, status text, type text
NamespaceSpec: finalizers text[]
NamespaceStatus: conditions NamespaceCondition[], phase text
NetworkPolicy: apiVersion text, kind text, metadata ObjectMeta, spec NetworkPolicySpec
NetworkPolicyEgressRule: ports NetworkPolicyPort[], to NetworkPolicyPeer[]
NetworkPolicyIngressRule: from NetworkPolicyPeer[], ports NetworkPolicyPort[]
NetworkPolicyPeer: ipBlock IPBlock, namespaceSelector LabelSelector, podSelector LabelSelector
NetworkPolicyPort: endPort int, port intOrText, protocol text
NetworkPolicySpec: egress NetworkPolicyEgressRule[], ingress NetworkPolicyIngressRule[], podSelector LabelSelector, policyTypes text[]
Node: apiVersion text, kind text, metadata ObjectMeta, spec NodeSpec, status NodeStatus
NodeAddress: address text, type text
NodeAffinity: preferredDuringSchedulingIgnoredDuringExecution PreferredSchedulingTerm[], requiredDuringSchedulingIgnoredDuringExecution NodeSelector
NodeAllocatableResourceClaimStatus: containers text[], resourceClaimName text, resources text{}
NodeCondition: lastHeartbeatTime text, lastTransitionTime text, message text, reason text, status text, type text
NodeConfigSource: configMap ConfigMapNodeConfigSource
NodeConfigStatus: active NodeConfigSource, assigned NodeConfigSource, error text, lastKnownGood NodeConfigSource
NodeDaemonEndpoints: kubeletEndpoint DaemonEndpoint
NodeFeatures: supplementalGroupsPolicy flag
NodeRuntimeHandler: features NodeRuntimeHandlerFeatures, name text
NodeRuntimeHandlerFeatures: recursiveReadOnlyMounts flag, userNamespaces flag
NodeSelector: nodeSelectorTerms NodeSelectorTerm[]
NodeSelectorRequirement: key text, operator text, values text[]
NodeSelectorTerm: matchExpressions NodeSelectorRequirement[], matchFields NodeSelectorRequirement[]
NodeSpec: configSource NodeConfigSource, externalID text, podCIDR text, podCIDRs text[], providerID text, taints Taint[], unschedulable flag
NodeStatus: addresses NodeAddress[], allocatable quantity{}, capacity quantity{}, conditions NodeCondition[], config NodeConfigStatus, daemonEndpoints NodeDaemonEndpoints, declaredFeatures text[], features NodeFeatures, images ContainerImage[], nodeInfo NodeSystemInfo, phase text, runtimeHandlers NodeRuntimeHandler[], volumesAttached AttachedVolume[], volumesInUse text[]
NodeSwapStatus: capacity int
NodeSystemInfo: architecture text, bootID text, containerRuntimeVersion text, kernelVersion text, kubeProxyVersion text, kubeletVersion text, machineID text, operatingSystem text, osImage text, swap NodeSwapStatus, systemUUID text
ObjectFieldSelector: apiVersion text, fieldPath text
ObjectMeta: annotations text{}, creationTimestamp text, deletionGracePeriodSeconds int, deletionTimestamp text, finalizers text[], generateName text, generation int, labels text{}, managedFields ManagedFieldsEntry[], name text, namespace text, ownerReferences OwnerReference[], resourceVersion text, selfLink text, uid text
ObjectMetricSource: describedObject CrossVersionObjectReference, metric MetricIdentifier, target MetricTarget
ObjectMetricStatus: current MetricValueStatus, describedObject CrossVersionObjectReference, metric MetricIdentifier
ObjectReference: apiVersion text, fieldPath text, kind text, name text, namespace text, resourceVersion text, uid text
OwnerReference: apiVersion text, blockOwnerDeletion flag, controller flag, kind text, name text, uid text
PersistentVolume: apiVersion text, kind text, metadata ObjectMeta, spec PersistentVolumeSpec, status PersistentVolumeStatus
PersistentVolumeClaim: apiVersion text, kind text, metadata ObjectMeta, spec PersistentVolumeClaimSpec, status PersistentVolumeClaimStatus
PersistentVolumeClaimCondition: lastProbeTime text, lastTransitionTime text, message text, reason text, status text, type text
PersistentVolumeClaimSpec: accessModes text[], dataSource TypedLocalObjectReference, dataSourceRef TypedObjectReference, resources VolumeResourceRequirements, selector LabelSelector, storageClassName text, volumeAttributesClassName text, volumeMode text, volumeName text
PersistentVolumeClaimStatus: accessModes text[], allocatedResourceStatuses text{}, allocatedResources quantity{}, capacity quantity{}, conditions PersistentVolumeClaimCondition[], currentVolumeAttributesClassName text, modifyVolumeStatus ModifyVolumeStatus, phase text
PersistentVolumeClaimTemplate: metadata ObjectMeta, spec PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource: claimName text, readOnly flag
PersistentVolumeSpec: accessModes text[], awsElasticBlockStore AWSElasticBlockStoreVolumeSource, azureDisk AzureDiskVolumeSource, azureFile AzureFilePersistentVolumeSource, capacity quantity{}, cephfs CephFSPersistentVolumeSource, cinder CinderPersistentVolumeSource, claimRef ObjectReference, csi CSIPersistentVolumeSource, fc FCVolumeSource, flexVolume FlexPersistentVolumeSource, flocker FlockerVolumeSource, gcePersistentDisk GCEPersistentDiskVolumeSource, glusterfs GlusterfsPersistentVolumeSource, hostPath HostPathVolumeSource, iscsi ISCSIPersistentVolumeSource, local LocalVolumeSource, mountOptions text[], nfs NFSVolumeSource, nodeAffinity VolumeNodeAffinity, persistentVolumeReclaimPolicy text, photonPersistentDisk PhotonPersistentDiskVolumeSource, portworxVolume PortworxVolumeSource, quobyte QuobyteVolumeSource, rbd RBDPersistentVolumeSource, scaleIO ScaleIOPersistentVolumeSource, storageClassName text, storageos StorageOSPersistentVolumeSource, volumeAttributesClassName text, volumeMode text, vsphereVolume VsphereVirtualDiskVolumeSource
PersistentVolumeStatus: lastPhaseTransitionTime text, message text, phase text, reason text
PhotonPersistentDiskVolumeSource: fsType text, pdID text
Pod: apiVersion text, kind text, metadata ObjectMeta, spec PodSpec, status PodStatus
PodAffinity: preferredDuringSchedulingIgnoredDuringExecution WeightedPodAffinityTerm[], requiredDuringSchedulingIgnoredDuringExecution PodAffinityTerm[]
PodAffinityTerm: labelSelector LabelSelector, matchLabelKeys text[], mismatchLabelKeys text[], namespaceSelector LabelSelector, namespaces text[], topologyKey text
PodAntiAffinity: preferredDuringSchedulingIgnoredDuringExecution WeightedPodAffinityTerm[], requiredDuringSchedulingIgnoredDuringExecution PodAffinityTerm[]
PodCertificateProjection: certificateChainPath text, credentialBundlePath text, keyPath text, keyType text, maxExpirationSeconds int, signerName text, userAnnotations text{}
PodCondition: lastProbeTime text, lastTransitionTime text, message text, observedGeneration int, reason text, status text, type text
PodDNSConfig: nameservers text[], options PodDNSConfigOption[], searches text[]
PodDNSConfigOption: name text, value text
PodDisruptionBudget: apiVersion text, kind text, metadata ObjectMeta, spec PodDisruptionBudgetSpec, status PodDisruptionBudgetStatus
PodDisruptionBudgetSpec: maxUnavailable intOrText, minAvailable intOrText, selector LabelSelector, unhealthyPodEvictionPolicy text
PodDisruptionBudgetStatus: conditions Condition[], currentHealthy int, desiredHealthy int, disruptedPods text{}, disruptionsAllowed int, expectedPods int, observedGeneration int
PodExtendedResourceClaimStatus: requestMappings ContainerExtendedResourceRequest[], resourceClaimName text
PodFailurePolicy: rules PodFailurePolicyRule[]
PodFailurePolicyOnExitCodesRequirement: containerName text, operator text, values int[]
PodFailurePolicyOnPodConditionsPattern: status text, type text
PodFailurePolicyRule: action text, onExitCodes PodFailurePolicyOnExitCodesRequirement, onPodConditions PodFailurePolicyOnPodConditionsPattern[]
PodIP: ip text
PodOS: name text
PodReadinessGate: conditionType text
PodResourceClaim: name text, resourceClaimName text, resourceClaimTemplateName text
PodResourceClaimStatus: name text, resourceClaimName text
PodSchedulingGate: name text
PodSchedulingGroup: podGroupName text
PodSecurityContext: appArmorProfile AppArmorProfile, fsGroup int, fsGroupChangePolicy text, runAsGroup int, runAsNonRoot flag, runAsUser int, seLinuxChangePolicy text, seLinuxOptions SELinuxOptions, seccompProfile SeccompProfile, supplementalGroups int[], supplementalGroupsPolicy text, sysctls Sysctl[], windowsOptions WindowsSecurityContextOptions
PodSpec: activeDeadlineSeconds int, affinity Affinity, automountServiceAccountToken flag, containers Container[], dnsConfig PodDNSConfig, dnsPolicy text, enableServiceLinks flag, ephemeralContainers EphemeralContainer[], hostAliases HostAlias[], hostIPC flag, hostNetwork flag, hostPID flag, hostUsers flag, hostname text, hostnameOverride text, imagePullSecrets LocalObjectReference[], initContainers Container[], nodeName text, nodeSelector text{}, os PodOS, overhead quantity{}, preemptionPolicy text, priority int, priorityClassName text, readinessGates PodReadinessGate[], resourceClaims PodResourceClaim[], resources ResourceRequirements, restartPolicy text, runtimeClassName text, schedulerName text, schedulingGates PodSchedulingGate[], schedulingGroup PodSchedulingGroup, securityContext PodSecurityContext, serviceAccount text, serviceAccountName text, setHostnameAsFQDN flag, shareProcessNamespace flag, subdomain text, terminationGracePeriodSeconds int, tolerations Toleration[], topologySpreadConstraints TopologySpreadConstraint[], volumes Volume[]
PodStatus: allocatedResources quantity{}, conditions PodCondition[], containerStatuses ContainerStatus[], ephemeralContainerStatuses ContainerStatus[], extendedResourceClaimStatus PodExtendedResourceClaimStatus, hostIP text, hostIPs HostIP[], initContainerStatuses ContainerStatus[], message text, nodeAllocatableResourceClaimStatuses NodeAllocatableResourceClaimStatus[], nominatedNodeName text, observedGeneration int, phase text, podIP text, podIPs PodIP[], qosClass text, reason text, resize text, resourceClaimStatuses PodResourceClaimStatus[], resources ResourceRequirements, startTime text
PodTemplateSpec: metadata ObjectMeta, spec PodSpec
PodsMetricSource: metric MetricIdentifier, target MetricTarget
PodsMetricStatus: current MetricValueStatus, metric MetricIdentifier
PolicyRule: apiGroups text[], nonResourceURLs text[], resourceNames text[], resources text[], verbs text[]
PortStatus: error text, port int, protocol text
PortworxVolumeSource: fsType text, readOnly flag, volumeID text
PreferredSchedulingTerm: preference NodeSelectorTerm, weight int
Probe: exec ExecAction, failureThreshold int, grpc GRPCAction, httpGet HTTPGetAction, initialDelaySeconds int, periodSeconds int, successThreshold int, tcpSocket TCPSocketAction, terminationGracePeriodSeconds int, timeoutSeconds int
ProjectedVolumeSource: defaultMode int, sources VolumeProjection[]
QuobyteVolumeSource: group text, readOnly flag, registry text, tenant text, user text, volume text
RBDPersistentVolumeSource: fsType text, image text, keyring text, monitors text[], pool text, readOnly flag, secretRef SecretReference, user text
RBDVolumeSource: fsType text, image text, keyring text, monitors text[], pool text, readOnly flag, secretRef LocalObjectReference, user text
RbacV1Subject: apiGroup text, kind text, name text, namespace text
ReplicaSet: apiVersion text, kind text, metadata ObjectMeta, spec ReplicaSetSpec, status ReplicaSetStatus
ReplicaSetCondition: lastTransitionTime text, message text, reason text, status text, type text
ReplicaSetSpec: minReadySeconds int, replicas int, selector LabelSelector, template PodTemplateSpec
ReplicaSetStatus: availableReplicas int, conditions ReplicaSetCondition[], fullyLabeledReplicas int, observedGeneration int, readyReplicas int, replicas int, terminatingReplicas int
ResourceFieldSelector: containerName text, divisor quantity, resource text
ResourceHealth: health text, message text, resourceID text
ResourceMetricSource: name text, target MetricTarget
ResourceMetricStatus: current MetricValueStatus, name text
ResourceRequirements: claims CoreV1ResourceClaim[], limits quantity{}, requests quantity{}
ResourceStatus: name text, resources ResourceHealth[]
Role: apiVersion text, kind text, metadata ObjectMeta, rules PolicyRule[]
RoleBinding: apiVersion text, kind text, metadata ObjectMeta, roleRef RoleRef, subjects RbacV1Subject[]
RoleRef: apiGroup text, kind text, name text
RollingUpdateDaemonSet: maxSurge intOrText, maxUnavailable intOrText
RollingUpdateDeployment: maxSurge intOrText, maxUnavailable intOrText
RollingUpdateStatefulSetStrategy: maxUnavailable intOrText, partition int
RuleWithOperations: apiGroups text[], apiVersions text[], operations text[], resources text[], scope text
SELinuxOptions: level text, role text, type text, user text
ScaleIOPersistentVolumeSource: fsType text, gateway text, protectionDomain text, readOnly flag, secretRef SecretReference, sslEnabled flag, storageMode text, storagePool text, system text, volumeName text
ScaleIOVolumeSource: fsType text, gateway text, protectionDomain text, readOnly flag, secretRef LocalObjectReference, sslEnabled flag, storageMode text, storagePool text, system text, volumeName text
SeccompProfile: localhostProfile text, type text
Secret: apiVersion text, data text{}, immutable flag, kind text, metadata ObjectMeta, stringData text{}, type text
SecretEnvSource: name text, optional flag
SecretKeySelector: key text, name text, optional flag
SecretProjection: items KeyToPath[], name text, optional flag
SecretReference: name text, namespace text
SecretVolumeSource: defaultMode int, items KeyToPath[], optional flag, secretName text
SecurityContext: allowPrivilegeEscalation flag, appArmorProfile AppArmorProfile, capabilities Capabilities, privileged flag, procMount text, readOnlyRootFilesystem flag, runAsGroup int, runAsNonRoot flag, runAsUser int, seLinuxOptions SELinuxOptions, seccompProfile SeccompProfile, windowsOptions WindowsSecurityContextOptions
Service: apiVersion text, kind text, metadata ObjectMeta, spec ServiceSpec, status ServiceStatus
ServiceAccount: apiVersion text, automountServiceAccountToken flag, imagePullSecrets LocalObjectReference[], kind text, metadata ObjectMeta, secrets ObjectReference[]
ServiceAccountTokenProjection: audience text, expirationSeconds int, path text
ServiceBackendPort: name text, number int
ServicePort: appProtocol text, name text, nodePort int, port int, protocol text, targetPort intOrText
ServiceSpec: allocateLoadBalancerNodePorts flag, clusterIP text, clusterIPs text[], externalIPs text[], externalName text, externalTrafficPolicy text, healthCheckNodePort int, internalTrafficPolicy text, ipFamilies text[], ipFamilyPolicy text, loadBalancerClass text, loadBalancerIP text, loadBalancerSourceRanges text[], ports ServicePort[], publishNotReadyAddresses flag, selector text{}, sessionAffinity text, sessionAffinityConfig SessionAffinityConfig, trafficDistribution text, type text
ServiceStatus: conditions Condition[], loadBalancer LoadBalancerStatus
SessionAffinityConfig: clientIP ClientIPConfig
SleepAction: seconds int
StatefulSet: apiVersion text, kind text, metadata ObjectMeta, spec StatefulSetSpec, status StatefulSetStatus
StatefulSetCondition: lastTransitionTime text, message text, reason text, status text, type text
StatefulSetOrdinals: start int
StatefulSetPersistentVolumeClaimRetentionPolicy: whenDeleted text, whenScaled text
StatefulSetSpec: minReadySeconds int, ordinals StatefulSetOrdinals, persistentVolumeClaimRetentionPolicy StatefulSetPersistentVolumeClaimRetentionPolicy, podManagementPolicy text, replicas int, revisionHistoryLimit int, selector LabelSelector, serviceName text, template PodTemplateSpec, updateStrategy StatefulSetUpdateStrategy, volumeClaimTemplates PersistentVolumeClaim[]
StatefulSetStatus: availableReplicas int, collisionCount int, conditions StatefulSetCondition[], currentReplicas int, currentRevision text, observedGeneration int, readyReplicas int, replicas int, updateRevision text, updatedReplicas int
StatefulSetUpdateStrategy: rollingUpdate RollingUpdateStatefulSetStrategy, type text
StorageOSPersistentVolumeSource: fsType text, readOnly flag, secretRef ObjectReference, volumeName text, volumeNamespace text
StorageOSVolumeSource: fsType text, readOnly flag, secretRef LocalObjectReference, volumeName text, volumeNamespace text
SuccessPolicy: rules SuccessPolicyRule[]
SuccessPolicyRule: succeededCount int, succeededIndexes text
Sysctl: name text, value text
TCPSocketAction: host text, port intOrText
Taint: effect text, key text, timeAdded text, value text
Toleration: effect text, key text, operator text, tolerationSeconds int, value text
TopologySpreadConstraint: labelSelector LabelSelector, matchLabelKeys text[], maxSkew int, minDomains int, nodeAffinityPolicy text, nodeTaintsPolicy text, topologyKey text, whenUnsatisfiable text
TypedLocalObjectReference: apiGroup text, kind text, name text
TypedObjectReference: apiGroup text, kind text, name text, namespace text
UncountedTerminatedPods: failed text[], succeeded text[]
ValidatingWebhook: admissionReviewVersions text[], clientConfig AdmissionregistrationV1WebhookClientConfig, failurePolicy text, matchConditions MatchCondition[], matchPolicy text, name text, namespaceSelector LabelSelector, objectSelector LabelSelector, rules RuleWithOperations[], sideEffects text, timeoutSeconds int
ValidatingWebhookConfiguration: apiVersion text, kind text, metadata ObjectMeta, webhooks ValidatingWebhook[]
Volume: awsElasticBlockStore AWSElasticBlockStoreVolumeSource, azureDisk AzureDiskVolumeSource, azureFile AzureFileVolumeSource, cephfs CephFSVolumeSource, cinder CinderVolumeSource, configMap ConfigMapVolumeSource, csi CSIVolumeSource, downwardAPI DownwardAPIVolumeSource, emptyDir EmptyDirVolumeSource, ephemeral EphemeralVolumeSource, fc FCVolumeSource, flexVolume FlexVolumeSource, flocker FlockerVolumeSource, gcePersistentDisk GCEPersistentDiskVolumeSource, gitRepo GitRepoVolumeSource, glusterfs GlusterfsVolumeSource, hostPath HostPathVolumeSource, image ImageVolumeSource, iscsi ISCSIVolumeSource, name text, nfs NFSVolumeSource, persistentVolumeClaim PersistentVolumeClaimVolumeSource, photonPersistentDisk PhotonPersistentDiskVolumeSource, portworxVolume PortworxVolumeSource, projected ProjectedVolumeSource, quobyte QuobyteVolumeSource, rbd RBDVolumeSource, scaleIO ScaleIOVolumeSource, secret SecretVolumeSource, storageos StorageOSVolumeSource, vsphereVolume VsphereVirtualDiskVolumeSource
VolumeDevice: devicePath text, name text
VolumeMount: mountPath text, mountPropagation text, name text, readOnly flag, recursiveReadOnly text, subPath text, subPathExpr text
VolumeMountStatus: mountPath text, name text, readOnly flag, recursiveReadOnly text, volumeStatus VolumeStatus
VolumeNodeAffinity: required NodeSelector
VolumeProjection: clusterTrustBundle ClusterTrustBundleProjection, configMap ConfigMapProjection, downwardAPI DownwardAPIProjection, podCertificate PodCertificateProjection, secret SecretProjection, serviceAccountToken ServiceAccountTokenProjection
VolumeResourceRequirements: limits quantity{}, requests quantity{}
VolumeStatus: image ImageVolumeStatus
VsphereVirtualDiskVolumeSource: fsType text, storagePolicyID text, storagePolicyName text, volumePath text
WeightedPodAffinityTerm: podAffinityTerm PodAffinityTerm, weight int
WindowsSecurityContextOptions: gmsaCredentialSpec text, gmsaCredentialSpecName text, hostProcess flag, runAsUserName text
`;
