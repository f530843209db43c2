// Package scheduler treats templates and configuration as the operator's package of that name does,
// so that types print as they do there (scheduler.dataType).
package scheduler

// Fields is the assignment of a request; Config holds the raw values of ConfigMaps.
type Fields struct {
	DeploymentTargetName string
	Namespace            string
	Environment          string
	Workspace            string
	Workload             string
	Labels               map[string]string
	Manifests            map[string]string
	ClusterType          string
	Config               map[string]string
}

// dataType is the data that templates see. They can print its name, and its fields in their order.
type dataType struct {
	DeploymentTargetName string
	Namespace            string
	Environment          string
	Workspace            string
	Workload             string
	Labels               map[string]string
	Manifests            map[string]string
	ClusterType          string
	ConfigData           map[string]interface{}
}

func newData(fields Fields) dataType {
	return dataType{
		DeploymentTargetName: fields.DeploymentTargetName,
		Namespace:            fields.Namespace,
		Environment:          fields.Environment,
		Workspace:            fields.Workspace,
		Workload:             fields.Workload,
		Labels:               orEmpty(fields.Labels),
		Manifests:            orEmpty(fields.Manifests),
		ClusterType:          fields.ClusterType,
		ConfigData:           ParseConfig(fields.Config),
	}
}

func orEmpty(values map[string]string) map[string]string {
	if values == nil {
		return map[string]string{}
	}
	return values
}
