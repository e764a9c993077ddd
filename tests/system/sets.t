#!/bin/bash
# sets.t - the sets of validate say what they are, and what they run measures, here on the
# processor in place of an accelerator.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
need jq "$REGATTA_BUILD/regatta"
PYTHON=/usr/bin/python3
export REGATTA_CONFIG=$BED/none REGATTA_IMAGES=$REGATTA_BUILD/images

for set in "$REGATTA_BUILD"/images/validation/*.yaml; do
	nodes=$(sed -n 's/^nodes: *//p' "$set")
	name=$(basename "$set" .yaml)
	like "$nodes" '^(each|pairs)$' "$name measures each node or pairs"
	ok 'finds "regatta validate $name" <"$set"' "and says how it is called"
	ok 'finds "^\.It Cm $name$" <"$ROOT/controller/cli/regatta.1"' \
		"as the manual does"
	run regatta plan "$set" --set nodes=1 --set vendor=nvidia
	is "$rc" 0 "it is a sweep without a fault"
done

run regatta plan "$REGATTA_BUILD/images/validation/devices.yaml" --set nodes=1 \
	--set vendor=nvidia --set framework=pytorch_2.6 --format json
like "$out" '"image": *"nvcr.io/nvidia/pytorch:25.01-py3"' \
	"a version of the framework has its own image"

# program_of SET: the file that it gives the container
program_of()
{
	awk '/^    text: \|/ { on = 1; next } /^[^ ]/ { on = 0 }
		on { sub(/^      /, ""); print }' \
		"$REGATTA_BUILD/images/validation/$1.yaml" >"$BED/$1.py"
}

# fake TOOL CODE: a vendor's tool that prints its input
fake()
{
	cat >"$BED/bin/$1.said" &&
		printf '#!/bin/sh\ncat "%s"\nexit %d\n' "$BED/bin/$1.said" "$2" \
			>"$BED/bin/$1" && chmod +x "$BED/bin/$1"
}

# What the vendors' tools say, in words of our own between their marks.
mkdir -p "$BED/bin"
program_of vendor
# vendor NAME: runs the set's program with the lines of the vendor's profile
vendor()
{
	awk '/^diagnosis: \|/ { on = 1; next } /^[^ ]/ { on = 0 }
		on { sub(/^  /, ""); print }' \
		"$REGATTA_BUILD/images/vendors/$1/profile.yaml" >"$BED/diagnosis"
	sed -e "/^\\\${vendor.diagnosis}\$/{r $BED/diagnosis" -e 'd}' \
		"$BED/vendor.py" >"$BED/vendor.sh"
	run env PATH="$BED/bin:/usr/bin:/bin" LEVEL=1 sh "$BED/vendor.sh"
}
vendor amd
is "$rc $err" "1 error: the image has none of agfhc rvs" \
	"an image without a tool is told"
run regatta plan "$REGATTA_BUILD/images/validation/vendor.yaml" --set nodes=1 \
	--set vendor=metax --set image=a:1
like "$rc $err" "^2 .*vendor.yaml:[0-9]+: .*\{vendor.diagnosis\}: the profile of metax has \
no such text$" "and a vendor whose profile names none"
fake dcgmi 0 <<'END'
| hardware test one        | Pass                                           |
| hardware test two        | Skip - All                                     |
END
vendor nvidia
like "$rc $out" "^0 (.|
)*dcgmi finds nothing$" "a tool that finds nothing is good"
fake dcgmi 226 <<'END'
| hardware test one        | Pass - GPUs: 0                                 |
|                          | Fail - GPU: 3                                  |
END
vendor nvidia
is "$rc $err" "1 error: dcgmi: Fail - GPU: 3" "what it finds is the reason"
rm "$BED/bin/dcgmi"
fake rvs 0 <<'END'
[RESULT] [  1.5] [some-action] some 4099 pass: TRUE
[RESULT] [  2.5] [some-action] some 8195 pass: FALSE
END
vendor amd
is "$rc $err" "1 error: rvs: [RESULT] [ 2.5] [some-action] some 8195 pass: FALSE" \
	"also where the exit code is 0"
rm "$BED/bin/rvs"
fake agfhc 1 </dev/null
vendor amd
is "$rc $err" "1 error: agfhc: exit code 1" "and where there is nothing but that"
rm "$BED/bin/agfhc"
fake ascend-dmi 0 <<'END'
  one:
      PASS
  two:
      FAIL
      *** Device 4: something is odd.
END
vendor ascend
is "$rc $err" "1 error: ascend-dmi: FAIL;*** Device 4: something is odd." \
	"with the device"

if "$PYTHON" -c "import torch" 2>/dev/null; then
	program_of devices && program_of soak-devices
	run env SECONDS_EACH=0.05 "$PYTHON" "$BED/devices.py"
	is "$rc $(sed -n 's/^\[measured\] //p' "$BED/out" |
		jq '[.device0_fp32_tflops, .device0_copy_gb_per_s] | all(. > 0)')" \
		"0 true" "devices measures a device"
	run env SOAK_SECONDS=0.5 "$PYTHON" "$BED/soak-devices.py"
	is "$rc $(sed -n 's/^\[measured\] //p' "$BED/out" |
		jq '0 < .device0_slowest_bf16_tflops and
			.device0_slowest_bf16_tflops <= .device0_bf16_tflops')" \
		"0 true" "soak-devices tells the mean and the slowest tenth"
	cat >"$BED/wrong.py" <<-END
		import torch
		right, calls = torch.mm, []
		def mm(a, b):
		    calls.append(1)
		    product = right(a, b)
		    if len(calls) == 3:
		        product[7, 9] += 1
		    return product
		torch.mm = mm
		exec(open("$BED/soak-devices.py").read())
	END
	run env SOAK_SECONDS=0.001 "$PYTHON" "$BED/wrong.py"
	like "$rc $err" "^1 device 0 computed something else after 0 of 0 s" \
		"a wrong bit is an error"
else
	ok true "what they run # SKIP no PyTorch"
fi
done_testing
