#!/bin/bash
# recipes.t - what images are built from: the images that the profiles name.
# Long: it reads all recipes, which change seldom.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

images=$(dirname "$0")/../../images/vendors

# base VENDOR FRAMEWORK: what the vendor's profile has for it
base()
{
	sed -n '/^images:/,$p' "$images/$1/profile.yaml" |
		sed -n "s/^  ${2//./\\.}: \([^ ]*\).*/\1/p"
}

count=0
for file in "$images"/*/*/Dockerfile; do
	name=${file#"$images"/}
	vendor=${name%%/*} framework=${name#*/}
	framework=${framework%/*}
	count=$((count + 1))
	is "$(sed -n 's/^FROM //p' "$file")" "$(base "$vendor" "$framework")" \
		"$vendor/$framework is built from what its profile names"
	ok '! grep "pip install" "$file" | finds -v ==' \
		"and installs nothing without a version"
done
ok '((count >= 30))' "there are $count of them"

# Who may pull from these needs no account: each image has its recipe.
public='^(nvcr\.io|registry\.baidubce\.com|ccr-[^/]*-pub\.|cr\.metax-tech\.com/public|registry\.mthreads\.com/public|image\.sourcefind\.cn|hub\.tsingmicro\.com|vault\.habana\.ai|harbor\.baai\.ac\.cn|paddlepaddle/|dynamicheart/|amdagi/)'
without=$(for file in "$images"/*/profile.yaml; do
	vendor=$(dirname "$file")
	sed -n '/^images:/,$s/^  [^ ]*: \([^ ]*\).*/\1/p' "$file" |
		grep -E "$public" | sort -u | while read -r image; do
		grep -qxF "FROM $image" "$vendor"/*/Dockerfile ||
			echo "${vendor##*/}: $image"
	done
done)
is "$without" "" "every public image that a profile names can be built from"
for name in nvidia/{paddle_2.5.1,deepspeed,deepspeed-torch} \
	metax/flagscale mthreads/deepspeed; do
	ok '[[ -s $images/$name/Dockerfile ]]' "the reference systems': $name"
done
done_testing
