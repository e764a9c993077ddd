#!/bin/bash
# badinput.t - a broken sweep file is refused with its place, and goes nowhere.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
must cluster_up 1

sweep=$BED/bad.yaml

# refused SAID NAME, with the file on standard input: by submit and by plan.
refused()
{
	cat >"$sweep"
	for command in plan submit run; do
		run regatta $command "$sweep"
		like "$rc $err" "^2 regatta: .*$1" "$2: refused by $command" ||
			return
		ok '((${#err} < 1000)) && [[ ! $out ]]' "in a few words"
	done
}

refused 'bad.yaml:2: .*stepps.*did you mean.*steps' "an unknown key" <<'END'
sweep: bad
stepps: 3
image: x
END
while read -r key word; do
	refused "bad.yaml:3: $key: unknown key; expected .*\"$word\"" \
		"$key, which is $word here" <<-END
		sweep: bad
		image: x
		$key: 1
	END
done <<'END'
gpus devices
volumes mounts
environment env
num_nodes nodes
hang_timeout hang
max_retries retries
same_node same_nodes
shm_size shm
END
refused "bad.yaml:3: .*nodes.*many" "a word for a number" <<'END'
sweep: bad
image: x
nodes: many
END
refused "bad.yaml:3: .*nodes.*-1" "a negative number" <<'END'
sweep: bad
image: x
nodes: -1
command: [/tool]
END
refused "bad.yaml:3: .*command" "a map for a list" <<'END'
sweep: bad
image: x
command: {a: 1}
END
refused "image" "no image" <<'END'
sweep: bad
command: [/tool]
END
while IFS='|' read -r image why; do
	refused "bad.yaml:2: image: .*$why.*; expected name\[:tag\]\[@sha256:" \
		"the image $image" <<-END
		sweep: bad
		image: "$image"
		command: [/tool]
	END
done <<'END'
Lab/train:1|capital letters in the name
lab/my train:1|a name has a-z and 0-9
lab/train:1:2|a name has a-z and 0-9
lab/train:|no tag of a-z
https://registry.example/train|a name has a-z and 0-9
lab/train@sha256:12|no SHA-256 digest after the @
END
refused "bad.yaml:4: image: .*lab/train:a b.*no tag of a-z" \
	"an image of one cell" <<'END'
sweep: bad
command: [/tool]
matrix: {tag: [1, "a b"]}
image: "lab/train:${tag}"
END
refused "bad.yaml:2: .*framework.*nobody" "an unknown framework" <<'END'
sweep: bad
framework: nobody
END
refused "bad.yaml:3: .*[Mm]odel.*gpt-nono" "an unknown model" <<'END'
sweep: bad
framework: cpu
model: gpt-nono
END
refused "bad.yaml:2: .*image" "a key twice" <<'END'
image: x
image: y
sweep: bad
END
refused "bad.yaml:3: .*parsing" "no YAML" <<'END'
sweep: bad
image: [x
END
refused "bad.yaml" "an alias within itself" <<'END'
sweep: bad
image: x
env: &e
  <<: *e
  A: "1"
command: [/tool]
END
refused "bad.yaml:4: command.*is not defined" "a placeholder for nothing" <<'END'
sweep: bad
image: x
nodes: 1
command: [/tool, "${nothing}"]
END
refused "bad.yaml" "an empty file" </dev/null
refused "bad.yaml" "a sweep that is no map" <<<"[1, 2]"
refused "bad.yaml:1" "bytes that are no text" < <(head -c 4000 /dev/urandom |
	sed '1s/^/\xff\xfe\x01/')

# A thousand million cells, from 200 bytes.
list=[$(seq -s, 1000)]
refused "1000000" "too many cells" <<END
sweep: bad
image: x
command: [/tool, "\${a}\${b}\${c}"]
matrix: {a: $list, b: $list, c: $list}
END

# Ten million brackets, and a bomb of aliases.
refused "bad.yaml: more than 1048576 bytes" "10 MB of nesting" \
	< <(head -c 10000000 /dev/zero | tr '\0' '[')
refused "bad.yaml:1: .*inside each other" "1 MB of nesting" \
	< <(head -c 1000000 /dev/zero | tr '\0' '[')
refused "bad.yaml" "a bomb of aliases" < <(
	echo "sweep: bad"
	echo "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"
	for i in {1..9}; do
		r="*a$((i - 1))"
		echo "a$i: &a$i [$r, $r, $r, $r, $r, $r, $r, $r, $r, $r]"
	done)
run regatta submit /dev/full
is $rc 2 "a device is no sweep"
run regatta submit "$BED"
is $rc 2 "a folder is no sweep"

run regatta sweeps --format json
is "$(jq -c .sweeps "$BED/out")" "[]" "nothing of all that was submitted"
is "$(find . -maxdepth 1 -name 'regatta-run-*')" "" "nor was a folder made"
ok 'alive cluster/controller' "the controller is well"
done_testing
