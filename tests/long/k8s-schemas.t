#!/bin/bash
# k8s-schemas.t - the manifests of regatta k8s are valid against the OpenAPI
# documents of Kubernetes in the folder $REGATTA_K8S_SCHEMAS, *.json: as
# api/openapi-spec/swagger.json of its source is, or /openapi/v2 of a cluster.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
compgen -G "${REGATTA_K8S_SCHEMAS:-/nowhere}/*.json" >/dev/null ||
	skip_all "no OpenAPI documents of Kubernetes (\$REGATTA_K8S_SCHEMAS names their folder)"
need jq python3 "$REGATTA_BUILD"/{regatta,regatta-agent}
export REGATTA_IMAGES=$BED/images
export FAKE_CLUSTER=$BED/cluster KUBERNETES_SERVICE_HOST=127.0.0.1
mkdir -p "$BED/bin" "$FAKE_CLUSTER"
ln -s "$ROOT/tests/lab/kubectl.sh" "$BED/bin/kubectl"
export PATH=$BED/bin:$PATH
cd "$BED" || exit 1
cp -r "$ROOT/images" images
chmod -R u+w images

# Strict: a member that is not in the document is an error, too. Of a kind that
# is none of Kubernetes's own, only the metadata are known. The first argument
# is the document, the second one a file of objects.
cat >valid.py <<'END'
import json, re, sys

OF = "io.k8s.apimachinery.pkg."
KINDS = {"string": str, "boolean": bool, "object": dict, "array": list,
	 "integer": int, "number": (int, float)}
known = json.load(open(sys.argv[1]))["definitions"]
wrong, count = [], 0

def check(at, value, schema):
	name = schema.get("$ref", "").split("/")[-1]
	if name.endswith(".intstr.IntOrString") or name.endswith(".Time"):
		return
	if name == OF + "api.resource.Quantity":
		schema = {"type": "string"}
	elif name:
		schema = known[name]
	kind = schema.get("type", "object" if "properties" in schema else None)
	if kind and (not isinstance(value, KINDS[kind]) or
		     isinstance(value, bool) and kind != "boolean"):
		wrong.append(f"{at}: {value!r} is no {kind}")
	elif "enum" in schema and value not in schema["enum"]:
		wrong.append(f"{at}: {value!r} is none of {schema['enum']}")
	elif kind == "object":
		members = schema.get("properties", {})
		others = schema.get("additionalProperties")
		for member in schema.get("required", []):
			if member not in value:
				wrong.append(f"{at}: without {member}")
		for member, item in value.items():
			if member in members or others:
				check(f"{at}.{member}", item,
				      members.get(member, others))
			else:
				wrong.append(f"{at}: {member} is not known")
	elif kind == "array":
		for number, item in enumerate(value):
			check(f"{at}[{number}]", item, schema["items"])
	elif isinstance(value, str) and re.match(r"\$[A-Z]", value):
		wrong.append(f"{at}: {value} has no value")

def definition(of):
	group, _, version = of["apiVersion"].rpartition("/")
	wanted = {"group": group, "kind": of["kind"], "version": version}
	for schema in known.values():
		if wanted in schema.get("x-kubernetes-group-version-kind", []):
			return schema
	if group.endswith(".x-k8s.io"):
		meta = {"$ref": "#/" + OF + "apis.meta.v1.ObjectMeta"}
		return {"type": "object", "properties": {
			"apiVersion": {"type": "string"}, "metadata": meta,
			"kind": {"type": "string"}, "spec": {}}}
	wrong.append(f"{of['apiVersion']} {of['kind']} is not known")

text, at = open(sys.argv[2]).read(), 0
while text[at:].strip():
	at += len(text[at:]) - len(text[at:].lstrip())
	read, at = json.JSONDecoder().raw_decode(text, at)
	for item in read["items"] if read["kind"] == "List" else [read]:
		count += 1
		schema = definition(item)
		if schema:
			check(item["kind"], item, schema)
print(*wrong[:20], sep="\n", end="", file=sys.stderr)
sys.exit(bool(wrong) or not count)
END

sweep() { # NAME LINE...
	printf '%s\n' "sweep: $1" "image: lab/train:1" \
		"command: [/bin/sh, -c, 'echo begun']" "${@:2}" >"$1.yaml"
}
printed() { # NAME OPTION...: what --print shows of a sweep
	regatta k8s --print "$1.yaml" "${@:2}" >"$1.json"
}
printf '%s\n' kueue.x-k8s.io scheduling.x-k8s.io/v1alpha1 resource.k8s.io/v1 \
	>"$FAKE_CLUSTER/apis"
sweep one "vendor: nvidia" "devices: 8" "memory: 64GiB" "cpus: 1.5" "shm: 1GiB" \
	"labels: zone=a" "user: 1000:100" "workdir: /tmp"
must printed one --host-network
sweep gang "vendor: nvidia" "devices: 8" "nodes: 2"
must printed gang
sweep queued "vendor: amd" "devices: 8" "matrix: {nodes: [1, 2]}"
must printed queued --queue team
cat >template.yaml <<'END'
metadata: {annotations: {team: x}}
spec:
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  imagePullSecrets: [{name: lab-registry}]
  schedulerName: other
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
  containers:
  - name: main
    volumeMounts: [{name: data, mountPath: /data}]
END
cp one.yaml site.yaml
must printed site --site template.yaml
sed -i 's,^kubernetes:.*,kubernetes: {class: gpu.nvidia.com},' images/vendors/nvidia/profile.yaml
cp gang.yaml claim.yaml
must printed claim
is "$(jq -s 'map(.items[].kind) | sort | unique | join(" ")' gang.json claim.json)" \
	'"Job PodGroup ResourceClaimTemplate Secret"' "every kind is printed"

sweep run "vendor: cpu" "devices: 1"
run -t 60 regatta k8s run.yaml --state run
is "$rc $(jq -s length "$FAKE_CLUSTER/created")" "0 2" "a run creates what owns all, and its Job"

valid() { # DOCUMENT FILE WHAT
	python3 valid.py "$1" "$2" 2>why
	is "$?$(cat why)" 0 "$3"
}
for document in "$REGATTA_K8S_SCHEMAS"/*.json; do
	of=$(basename "$document" .json)
	for name in one gang queued site; do
		valid "$document" $name.json "$of: what --print shows of $name"
	done
	valid "$document" "$FAKE_CLUSTER/created" "$of: what a run creates"
	! grep -q 'io.k8s.api.resource.v1.ResourceClaimTemplate"' "$document" ||
		valid "$document" claim.json "$of: claims of devices"
	jq '.items[-1].spec.template.spec.nodeNam = "n1"' one.json >bad.json
	python3 valid.py "$document" bad.json 2>why
	like "$?$(cat why)" "^1.*spec: nodeNam is not known" "$of: an unknown member is told"
done
done_testing
