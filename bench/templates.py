"""Templates as platform teams write them, by name: the type, and the manifests."""

from __future__ import annotations

TEMPLATES: dict[str, tuple[str, tuple[str, ...]]] = {
    "flux": (
        "reconciler",
        (
            """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: {{ .DeploymentTargetName }}
  namespace: flux-system
spec:
  interval: {{ if hasPrefix "region-00" .ClusterType }}1m{{ else }}5m{{ end }}
  url: {{ .Manifests.repo | quote }}
  ref:
    branch: {{ .Manifests.branch | quote }}
""",
            """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: {{ .DeploymentTargetName }}
  namespace: flux-system
  labels:
    {{- range $name := list "region" "tier" "workspace" }}
    {{ $name }}: {{ index $.Labels $name | quote }}
    {{- end }}
spec:
  interval: 10m
  prune: true
  targetNamespace: {{ .Namespace }}
  path: {{ .Manifests.path }}
  sourceRef:
    kind: GitRepository
    name: {{ .DeploymentTargetName }}
""",
        ),
    ),
    "argocd": (
        "reconciler",
        (
            """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: {{ printf "%s-%s" .ClusterType .DeploymentTargetName | trunc 63 | trimSuffix "-" }}
  namespace: argocd
spec:
  project: {{ .Workspace | default "platform" }}
  source:
    repoURL: {{ .Manifests.repo }}
    targetRevision: {{ .Manifests.branch }}
    path: {{ .Manifests.path | trimPrefix "./" }}
  destination:
    server: https://kubernetes.default.svc
    namespace: {{ .Namespace }}
  {{- if ne .Environment "prod" }}
  syncPolicy:
    automated:
      prune: true
      selfHeal: true
  {{- end }}
""",
        ),
    ),
    "rancher-fleet": (
        "reconciler",
        (
            """\
apiVersion: fleet.cattle.io/v1alpha1
kind: GitRepo
metadata:
  name: {{ .DeploymentTargetName }}
  namespace: fleet-default
spec:
  repo: {{ .Manifests.repo }}
  branch: {{ .Manifests.branch }}
  paths:
  - {{ .Manifests.path | trimPrefix "./" | quote }}
  targetNamespace: {{ .Namespace }}
  targets:
  - clusterSelector:
      matchLabels:
        cluster-type: {{ .ClusterType }}
""",
        ),
    ),
    "namespace": (
        "namespace",
        (
            """\
apiVersion: v1
kind: Namespace
metadata:
  name: {{ .Namespace }}
  labels:
    environment: {{ .Environment }}
    workspace: {{ .Workspace }}
    workload: {{ .Workload }}
    {{- with .Labels.tier }}
    tier: {{ . | lower }}
    {{- end }}
""",
        ),
    ),
    "config-map": (
        "config",
        (
            """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: platform-config
  namespace: {{ .Namespace }}
  annotations:
    config-hash: {{ hash .ConfigData | quote }}
data:
  {{- stringify (omit .ConfigData "LOGGING") | nindent 2 }}
  {{- with .ConfigData.LOGGING }}
  logging.yaml: |
    {{- toYaml . | nindent 4 }}
  {{- end }}
""",
        ),
    ),
}
